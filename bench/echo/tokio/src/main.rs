// SPDX-License-Identifier: MIT
// The echo server of the study `io`, with Tokio: prints its port, and runs until it is killed.
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn serve(mut connection: TcpStream) -> std::io::Result<()> {
    let mut bytes = [0u8; 512];
    loop {
        let got = connection.read(&mut bytes).await?;
        if got == 0 {
            return Ok(());
        }
        connection.write_all(&bytes[..got]).await?;
    }
}

fn main() -> std::io::Result<()> {
    let workers = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(2);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_io()
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("port {}", listener.local_addr()?.port());
        loop {
            let (connection, _) = listener.accept().await?;
            tokio::spawn(serve(connection));
        }
    })
}

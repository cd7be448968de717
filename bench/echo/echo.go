// SPDX-License-Identifier: MIT
// The echo server of the study `io`, in Go: prints its port, and runs until it is killed.
package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
)

func serve(connection net.Conn) {
	defer connection.Close()
	var bytes [512]byte
	for {
		got, err := connection.Read(bytes[:])
		if err != nil {
			return
		}
		if _, err = connection.Write(bytes[:got]); err != nil {
			return
		}
	}
}

func main() {
	if len(os.Args) > 1 {
		if workers, err := strconv.Atoi(os.Args[1]); err == nil {
			runtime.GOMAXPROCS(workers)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("port", listener.Addr().(*net.TCPAddr).Port)
	for {
		connection, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		go serve(connection)
	}
}

// SPDX-License-Identifier: MIT
// A program that knows OpenCV alone: image filters, and loops of its own, serially and in parallel,
// whose results must be the same. Prints both times.
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <vector>

namespace {

cv::Mat noise(int rows, int columns, int type) {
  cv::Mat image(rows, columns, type);
  cv::RNG random(7);
  random.fill(image, cv::RNG::UNIFORM, 0, 256);
  return image;
}

cv::Mat rotated(const cv::Mat& image) {
  cv::Mat turned;
  const cv::Mat turn = cv::getRotationMatrix2D({500, 500}, 31, 0.8);
  cv::warpAffine(image, turned, turn, image.size(), cv::INTER_CUBIC);
  return turned;
}

cv::Mat clusters(const cv::Mat& image) {
  cv::Mat points;
  image(cv::Rect(0, 0, 200, 200)).clone().reshape(1, 200 * 200).convertTo(points, CV_32F);
  cv::Mat labels;
  cv::Mat centers;
  cv::theRNG().state = 11;
  cv::kmeans(points, 5, labels, {cv::TermCriteria::MAX_ITER, 8, 0}, 2, cv::KMEANS_PP_CENTERS,
             centers);
  return labels;
}

// A loop in a loop, and lambdas.
cv::Mat sums(const cv::Mat& image) {
  cv::Mat result(image.rows, 1, CV_64F);
  cv::parallel_for_(cv::Range(0, image.rows), [&](const cv::Range& rows) {
    for (int row = rows.start; row < rows.end; ++row) {
      std::vector<double> parts(8);
      cv::parallel_for_(cv::Range(0, 8), [&](const cv::Range& eighths) {
        for (int part = eighths.start; part < eighths.end; ++part)
          parts[static_cast<std::size_t>(part)] = cv::sum(
              image.row(row).colRange(part * image.cols / 8, (part + 1) * image.cols / 8))[0];
      });
      double all = 0;
      for (double each : parts)
        all += each;
      result.at<double>(row) = all;
    }
  });
  return result;
}

bool throws() {
  try {
    cv::parallel_for_(cv::Range(0, 1000), [](const cv::Range& range) {
      if (range.start <= 500 && 500 < range.end)
        throw std::runtime_error("500");
    });
  } catch (const std::exception&) {
    return true;
  }
  return false;
}

struct filter {
  const char* name;
  std::function<cv::Mat(const cv::Mat&)> apply;
};

const filter filters[] = {
    {"GaussianBlur",
     [](const cv::Mat& in) {
       cv::Mat out;
       cv::GaussianBlur(in, out, {15, 15}, 3);
       return out;
     }},
    {"medianBlur",
     [](const cv::Mat& in) {
       cv::Mat out;
       cv::medianBlur(in, out, 7);
       return out;
     }},
    {"bilateralFilter",
     [](const cv::Mat& in) {
       cv::Mat out;
       cv::bilateralFilter(in(cv::Rect(0, 0, 600, 600)), out, 9, 40, 40);
       return out;
     }},
    {"resize",
     [](const cv::Mat& in) {
       cv::Mat out;
       cv::resize(in, out, {}, 1.7, 1.7, cv::INTER_CUBIC);
       return out;
     }},
    {"cvtColor",
     [](const cv::Mat& in) {
       cv::Mat out;
       cv::cvtColor(in, out, cv::COLOR_BGR2Lab);
       return out;
     }},
    {"warpAffine", rotated},
    {"kmeans", clusters},
    {"nested loops", sums},
};

} // namespace

int main() {
  const cv::Mat image = noise(1000, 1500, CV_8UC3);
  bool same = true;
  for (const filter& each : filters) {
    cv::Mat result[2];
    double milliseconds[2];
    for (int parallel = 0; parallel < 2; ++parallel) {
      cv::setNumThreads(parallel != 0 ? -1 : 1);
      each.apply(image);
      cv::TickMeter meter;
      meter.start();
      for (int run = 0; run < 5; ++run)
        result[parallel] = each.apply(image);
      meter.stop();
      milliseconds[parallel] = meter.getTimeMilli() / 5;
    }
    const bool equal = cv::norm(result[0], result[1], cv::NORM_INF) == 0;
    same = same && equal;
    std::printf("%-16s %8.2f ms serially, %8.2f ms in parallel: %s\n", each.name, milliseconds[0],
                milliseconds[1], equal ? "the same" : "DIFFERENT");
  }
  if (!throws()) {
    std::puts("an exception of a body was LOST");
    return 1;
  }
  return same ? 0 : 1;
}

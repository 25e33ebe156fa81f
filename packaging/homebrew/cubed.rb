class Cubed < Formula
  desc "Bounded-memory N-dimensional array processing: library and command"
  url "@URL@"
  version "@VERSION@"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "xxhash" => :build
  depends_on "c-blosc"
  depends_on "jansson"
  depends_on "libdeflate"
  depends_on "lz4"
  depends_on "netcdf"
  depends_on "openssl@3"
  depends_on "sleef"
  depends_on "xz"
  depends_on "zfp"
  depends_on "zstd"

  uses_from_macos "bzip2"
  uses_from_macos "curl"
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCUBED_TESTS=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/cubed --version")
    (testpath/"test.c").write <<~C
      #include <cubed/cubed.h>
      #include <stdio.h>
      int main(void) { return puts(cubed_version()) < 0; }
    C
    system ENV.cc, "test.c", "-I#{include}", "-L#{lib}", "-lcubed", "-o", "test"
    assert_match version.to_s, shell_output("./test")
  end
end

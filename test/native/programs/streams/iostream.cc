// The streams of C++, tied to stdio and not.
#include <fstream>
#include <iostream>
#include <string>

int main() {
  std::cout << "tied " << 1 << std::endl;
  std::cerr << "error\n";
  std::clog << "log\n";
  std::cout.flush();
  std::ios::sync_with_stdio(false);
  std::cout << "untied\n" << std::string(100000, 'q') << std::flush;
  std::ofstream file("/dev/stdout", std::ios::app);
  file << "by name\n";
  return file.good() ? 0 : 1;
}

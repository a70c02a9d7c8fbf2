import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Bytes that are allocated in the whole process; 0 where the allocator cannot be asked.
package func heapInUse() -> Int {
  #if canImport(Glibc)
    // `mallinfo2` is in no module; `malloc_info` says the same as XML, for all arenas at the end.
    typealias MallocInfo = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
    guard let symbol = dlsym(nil, "malloc_info") else { return 0 }
    var text: UnsafeMutablePointer<CChar>?
    var size = 0
    guard let stream = open_memstream(&text, &size) else { return 0 }
    let mallocInfo = unsafeBitCast(symbol, to: MallocInfo.self)
    let status = mallocInfo(0, stream)
    fclose(stream)
    defer { free(text) }
    guard status == 0, let text else { return 0 }
    let lines = String(cString: text).split(separator: "\n")
    func last(_ start: String) -> Int {
      let line = lines.last { $0.hasPrefix(start) } ?? ""
      return line.components(separatedBy: "size=\"").last?.split(separator: "\"").first.flatMap { Int($0) } ?? 0
    }
    return last("<system type=\"current\"") - last("<total type=\"fast\"") - last("<total type=\"rest\"")
      + last("<total type=\"mmap\"")
  #elseif canImport(Darwin)
    var statistics = malloc_statistics_t()
    malloc_zone_statistics(nil, &statistics)
    return statistics.size_in_use
  #else
    return 0
  #endif
}

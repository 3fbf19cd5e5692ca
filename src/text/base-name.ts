/** The last part of a path, as the kernel names a program; empty if the path ends in `/`. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

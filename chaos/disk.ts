import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, statfsSync } from 'node:fs'

/** A directory on a file system of its own, which can be full. */
export type SmallDisk = {
  readonly path: string
  /** Leaves no byte free. */
  fill(): void
  /** As much is free again as there was. */
  heal(): void
  /** Copies what is on it to where it stays when the file system is gone. */
  keep(path: string): void
}

/** Whether this process may mount file systems here. */
export function canMount(directory: string): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  mkdirSync(directory, { recursive: true })
  try {
    mount(directory, ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs'])
    execFileSync('umount', [directory], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/**
 * Mounts one in memory. To fill it, its size is set to what is used, which takes no memory and no time.
 * @param path of a directory that is not there yet
 */
export function mountSmallDisk(path: string, sizeMiB: number): SmallDisk {
  mkdirSync(path, { recursive: true })
  const size = `size=${sizeMiB}m,mode=0755`
  mount(path, ['-t', 'tmpfs', '-o', size, 'tmpfs'])
  return {
    path,
    fill() {
      // More may be written between the two.
      for (let tries = 0; tries < 20; tries++) {
        const { blocks, bfree, bsize } = statfsSync(path)
        try {
          mount(path, ['-o', `remount,size=${(blocks - bfree) * bsize}`])
          return
        } catch {
          // Smaller than what is used by now.
        }
      }
    },
    heal: () => mount(path, ['-o', `remount,${size}`]),
    keep: (kept) => cpSync(path, kept, { recursive: true }),
  }
}

function mount(path: string, options: readonly string[]): void {
  execFileSync('mount', [...options, path], { stdio: 'ignore' })
}

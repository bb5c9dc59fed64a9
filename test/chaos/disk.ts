import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, statfsSync } from 'node:fs'

/** A directory on its own small file system, which can be filled. */
export type SmallDisk = {
  readonly path: string
  /** Leaves no free byte. */
  fill(): void
  /** Restores the original free space. */
  heal(): void
  /** Copies its content to a path that survives the file system. */
  keep(path: string): void
}

/** Whether this process may mount file systems. */
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
 * Mounts a file system in memory. It is filled by reducing its size to the used space, which takes no memory and no
 * time.
 * @param path a directory that does not exist yet
 */
export function mountSmallDisk(path: string, sizeMiB: number): SmallDisk {
  mkdirSync(path, { recursive: true })
  const size = `size=${sizeMiB}m,mode=0755`
  mount(path, ['-t', 'tmpfs', '-o', size, 'tmpfs'])
  return {
    path,
    fill() {
      // The used space may grow between the two calls.
      for (let tries = 0; tries < 20; tries++) {
        const { blocks, bfree, bsize } = statfsSync(path)
        try {
          mount(path, ['-o', `remount,size=${(blocks - bfree) * bsize}`])
          return
        } catch {
          // Smaller than the used space by now.
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

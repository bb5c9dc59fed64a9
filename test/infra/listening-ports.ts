import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** The state of a listening socket in the kernel's tables. */
const listening = '0A'

/** The TCP ports on which a process listens, from the kernel's tables. Only on Linux. */
export function listeningPorts(pid: number): number[] {
  const descriptors = `/proc/${pid}/fd`
  const inodes = new Set(
    readdirSync(descriptors).flatMap(
      (name) => /^socket:\[(\d+)\]$/.exec(target(join(descriptors, name)))?.[1] ?? [],
    ),
  )
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/)
        return state === listening && inodes.has(inode)
          ? [Number.parseInt(local.split(':')[1] ?? '', 16)]
          : []
      }),
  )
}

function target(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    // It was closed in the meantime.
    return ''
  }
}

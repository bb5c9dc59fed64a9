import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { wholeNumberIn } from '../../numbers.ts'

const workName = /^work-(\d+)$/

/**
 * A directory for the license keys that an import works on, which only its owner can read. Those of imports that were
 * killed are deleted.
 */
export function openWorkDirectory(dataDirectory: string): { path: string; remove(): void } {
  const imports = join(dataDirectory, 'imports')
  mkdirSync(imports, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(imports)) {
    const pid = wholeNumberIn(workName.exec(name)?.[1] ?? '', 1, 2 ** 31)
    if (pid !== undefined && !isRunning(pid)) rmSync(join(imports, name), { recursive: true, force: true })
  }
  const path = join(imports, `work-${process.pid}`)
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** The process of another user is running too. */
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** A user without rights, for tests that run as root. */
export const nobody = { uid: 65534, gid: 65534 }

export const isRoot = process.getuid?.() === 0

/** Whether this user is root and another user can run this checkout; not so in a closed home. */
export const canRunAsNobody = isRoot && canRun()

function canRun(): boolean {
  const script = fileURLToPath(new URL('holder.ts', import.meta.url))
  return spawnSync(process.execPath, ['--check', script], { ...nobody, cwd: '/' }).status === 0
}

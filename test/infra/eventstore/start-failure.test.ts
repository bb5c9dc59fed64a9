// With a full or failing disk the event store does not start, and says why and what to do.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeStartFailure } from '../../../infra/local/eventstore/start-failure.ts'
import { isRoot } from '../postgres/other-user.ts'
import { temporaryDirectory } from '../temporary.ts'

const entry = join(import.meta.dirname, '../../../infra/local/eventstore/main.ts')

test.each([
  [{ code: 'ENOSPC' }, 'The disk is full. Free up space and restart.'],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 13 }, 'The disk is full. Free up space and restart.'],
  [{ code: 'EIO' }, 'The disk reports an error. Check the system log'],
  // SQLITE_IOERR_READ and SQLITE_IOERR_FSYNC
  [{ code: 'ERR_SQLITE_ERROR', errcode: 266 }, 'The disk reports an error. Check the system log'],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 1034 }, 'The disk reports an error. Check the system log'],
])('%j', (codes, advice) => {
  const { message, exitCode } = describeStartFailure(Object.assign(new Error('it failed'), codes))
  expect(message.startsWith(`event store: it failed. ${advice}`)).toBe(true)
  expect(exitCode).toBe(1)
})

/** Whether this process may mount a file system for its child. */
const mayMount = isRoot && spawnSync('unshare', ['--mount', 'true']).status === 0

test.runIf(mayMount)('a full disk', () => {
  const disk = temporaryDirectory()
  const script = 'mount -t tmpfs -o size=24k tmpfs "$1" && exec "$2" "$3" --directory "$1/events"'
  const { status, stderr } = spawnSync(
    'unshare',
    ['--mount', '--propagation', 'private', 'sh', '-c', script, 'sh', disk, process.execPath, entry],
    { encoding: 'utf8', timeout: 60_000 },
  )
  expect(stderr).toMatch(/^event store: .*\. The disk is full\. Free up space and restart\.\n$/)
  expect(status).toBe(1)
})

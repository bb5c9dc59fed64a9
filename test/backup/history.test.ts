// Guarantee: a scheduled backup is due once per interval, retried soon after a failure, and reported when it is
// late.
import { describe, expect, test } from 'vitest'
import { type BackupRun, backupProblem, isBackupDue } from '../../src/backup/history.ts'

const at = (time: string) => new Date(`2026-11-23T${time}:00.000Z`)
const hour = 3_600_000
const run = (time: string, more: Partial<BackupRun> = {}): BackupRun => ({
  startedAt: at(time).toISOString(),
  endedAt: at(time).toISOString(),
  file: '/backups/one',
  problem: null,
  ...more,
})

describe('a backup is due', () => {
  test.each([
    ['when none was ever made', undefined, '00:00', true],
    ['not before the interval is over', run('06:00'), '07:59', false],
    ['when the interval is over', run('06:00'), '08:00', true],
    ['not at once after a failure', run('06:00', { problem: 'no space' }), '06:09', false],
    ['soon after a failure', run('06:00', { problem: 'no space' }), '06:10', true],
    ['soon after one that was cut off', run('06:00', { endedAt: null }), '06:10', true],
  ])('%s', (_, last, now, due) => expect(isBackupDue(last, at(now), 2 * hour)).toBe(due))
})

describe('a problem is reported', () => {
  const problem = (last: BackupRun | undefined, lastGood: BackupRun | undefined, now: string) =>
    backupProblem({ last, lastGood }, at(now), 2 * hour)

  test('not while backups succeed', () => {
    expect(problem(undefined, undefined, '06:00')).toBeUndefined()
    expect(problem(run('06:00'), run('06:00'), '10:00')).toBeUndefined()
    expect(problem(run('08:00', { endedAt: null }), run('06:00'), '08:01')).toBeUndefined()
  })

  test('for a failure, without its cause', () =>
    expect(problem(run('08:00', { problem: 'secret path' }), run('06:00'), '08:01')).toBe(
      'the backup started at 2026-11-23T08:00:00.000Z failed',
    ))

  test('for backups that stopped, or never finish', () => {
    expect(problem(run('06:00'), run('06:00'), '10:01')).toBe(
      'the last successful backup started at 2026-11-23T06:00:00.000Z',
    )
    expect(problem(run('06:00', { endedAt: null }), undefined, '10:01')).toBe(
      'no backup has finished since 2026-11-23T06:00:00.000Z',
    )
  })
})

// Guarantee: doctor warns about a finding of the last audit before anything else, then about a failure, then about audits that stopped.
import { expect, test } from 'vitest'
import { judgeAudits } from '../../src/cli/doctor/installation.ts'
import type { AuditRun, RunReport } from '../../src/notary/audit/runs.ts'

const now = new Date('2026-11-23T12:00:00.000Z')
const run = (startedAt: string, report: RunReport | null, failure: string | null = null): AuditRun => ({
  startedAt,
  endedAt: startedAt,
  report,
  failure,
})
const clean = run('2026-11-23T03:00:00.000Z', { events: 7, size: 7, problems: [] })
const changed = run('2026-11-22T03:00:00.000Z', {
  events: 3,
  size: 7,
  problems: [{ kind: 'changed', says: 'the event license-lic_1@4 at index 3 was changed' }],
})
const failed = run('2026-11-23T11:50:00.000Z', null, 'no disk')

test.each([
  ['none yet', undefined, undefined, undefined, true, 'no audit yet'],
  ['a clean one', clean, clean, clean, true, 'last clean audit: 2026-11-23T03:00:00.000Z'],
  ['a finding', changed, changed, undefined, false, 'found that the event license-lic_1@4 at index 3'],
  ['a finding and a later failure', failed, changed, undefined, false, 'found that the event'],
  ['a failure', failed, clean, clean, false, 'failed: no disk'],
])('%s', (_, last, lastDone, lastClean, ok, detail) => {
  const result = judgeAudits({ last, lastDone, lastClean }, now)
  expect(result).toMatchObject({ ok, required: false })
  expect(result.detail).toContain(detail)
})

test('one that is more than two days old', () => {
  const later = new Date('2026-11-25T03:00:01.000Z')
  const result = judgeAudits({ last: clean, lastDone: clean, lastClean: clean }, later)
  expect(result).toMatchObject({
    ok: false,
    detail: 'the last clean audit started at 2026-11-23T03:00:00.000Z',
  })
})

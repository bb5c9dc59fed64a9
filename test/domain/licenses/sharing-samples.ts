import type { LicenseCommand } from '../../../src/domain/licenses/license.ts'

const at = '2026-03-03T12:00:00.000Z'

/** Commands about sharing, and about suspensions, which may follow from it. */
export const sharingCommands: readonly LicenseCommand[] = [
  { type: 'NoticeSharing', rule: 'hops', count: 4, limit: 3, day: '2026-03-03', suspend: true, at },
  { type: 'AllowSharing', allowed: true, reason: null, at },
  { type: 'SuspendLicense', reason: 'unpaid', at },
  { type: 'ResumeLicense', reason: null, at },
]

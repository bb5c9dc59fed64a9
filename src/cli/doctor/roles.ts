import type { Pool } from 'pg'
import { type Role, roles } from '../../app/roles.ts'
import { healthOfRoles, rolesNotRunning } from '../../app/running-roles.ts'
import type { Check, CheckResult } from './check.ts'

/** Checks that some process runs each role, if any process runs at all. */
export const rolesCheck = (db: Pool): Check => ({
  name: 'roles',
  run: async () => judgeRoles(await rolesNotRunning(db)),
})

/** Judges which roles no process runs. */
function judgeRoles(missing: readonly Role[]): CheckResult {
  if (missing.length === roles.length) return { ok: true, required: false, detail: 'no server is running' }
  const detail = healthOfRoles(missing)?.detail
  if (detail === undefined) return { ok: true, required: false, detail: 'each runs somewhere' }
  const remedy = `start a process with serve --roles ${missing.join(',')}: see docs/operating/deploy.md#roles`
  return { ok: false, required: false, detail, remedy }
}

import type { PartHealth } from '../../http/health.ts'
import type { WorkersStatus } from './messages.ts'

/** How long a death is reported. */
const recentMs = 3_600_000

/** Whether all workers serve and none has died within the last hour. */
export function workersHealth({ wanted, serving, deaths, lastDeath }: WorkersStatus, now: Date): PartHealth {
  const isRecent = lastDeath !== undefined && now.getTime() - Date.parse(lastDeath.at) < recentMs
  const died =
    lastDeath && `${deaths} died since the start, the last one at ${lastDeath.at} (${lastDeath.how})`
  return {
    ok: serving === wanted && !isRecent,
    required: false,
    detail: [`${serving} of ${wanted} serve`, ...(died ? [died] : [])].join('; '),
  }
}

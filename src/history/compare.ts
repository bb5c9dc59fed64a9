import type { Ports } from '../ports.ts'
import { licenseAsOf } from './as-of.ts'
import { type Change, differences } from './changes.ts'
import type { AsOf } from './moment.ts'

type Side = { sequence: number; at: string }

/** What changed in a license between two moments. */
export type Comparison = {
  from: Side
  to: Side
  changes: Change[]
  devices: ReturnType<typeof differences>['devices']
}

/** @throws Refusal `license_not_found`, `moment_in_the_future` */
export async function compareMoments(
  ports: Ports<'db' | 'ledger' | 'now'>,
  { tenantId, licenseId }: { tenantId: string; licenseId: string },
  from: AsOf,
  to: AsOf,
): Promise<Comparison> {
  const [before, after] = await Promise.all([
    licenseAsOf(ports, tenantId, licenseId, from),
    licenseAsOf(ports, tenantId, licenseId, to),
  ])
  return {
    from: { sequence: before.revision, at: before.at },
    to: { sequence: after.revision, at: after.at },
    ...differences(before.license, before.at, after.license, after.at),
  }
}

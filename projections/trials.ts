import type { Pool } from 'pg'
import { coalesce } from '../src/async/coalesce.ts'
import { maxInstalls, type Trial, trials, unknownMachine } from '../src/domain/trials/trial.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'

const documents = defineDocuments(evolvedBy(trials), {
  table: 'trials',
  begun: (trial) => (trial.status === 'unknown' ? undefined : trial),
  columns: {
    tenantId: 'text not null',
    productId: 'text not null',
  },
  computed: {
    shared: ['boolean not null', (trial) => trial.sharedAt !== null],
  },
  indexes: {
    trials_shared: '(tenant_id, product_id) where shared',
  },
})

/** The trial of each machine for a product. */
export const trialsProjector = projectorOf(documents)

/** An install without a license, and the keyed hash of the machine that it reports; null when it reports none. */
type InstallLookupParams = {
  tenantId: string
  productId: string
  instanceId: string
  machine: string | null
}

export type FoundInstall = {
  /** Whether the install has been seen before. */
  known: boolean
  /** Whether it has been seen on this machine before. */
  onMachine: boolean
  /** The number of installs seen on this machine, counted up to one more than the limit. */
  installs: number
  trial: Trial
  /** The machine's stream is parked, so its trial is unknown. */
  uncertain: boolean
}

export type FindInstall = (params: InstallLookupParams) => Promise<FoundInstall>

/** Finds the install and the trial for a beacon. Concurrent lookups share one query. */
export function createInstallLookup(db: Pool): FindInstall {
  return coalesce(async (lookups) => {
    const { rows } = await db.query<Omit<FoundInstall, 'trial'> & { trial: Trial | null }>({
      name: 'find-installs',
      text: lookupSql,
      values: [
        lookups.map(({ tenantId }) => tenantId),
        lookups.map(({ productId }) => productId),
        lookups.map(({ instanceId }) => instanceId),
        lookups.map(({ machine }) => machine),
      ],
    })
    return rows.map(({ trial, ...row }) => ({ ...row, trial: trial ?? unknownMachine }))
  })
}

const lookupSql = `
  select i.instance_id is not null as known, coalesce(i.machine = q.machine, false) as "onMachine",
    (select count(*) from (select from usage.installs where machine = q.machine limit ${maxInstalls + 1}) seen)::int
      as installs,
    t.state as trial, exists (select from parked where stream = q.stream) as uncertain
  from (
    select *, 'trial-' || tenant_id || '.' || product_id || '.' || machine as stream
    from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality
      as a (tenant_id, product_id, instance_id, machine, ordinal)
  ) q
  left join usage.installs i using (tenant_id, product_id, instance_id)
  left join trials t on t.stream = q.stream
  order by q.ordinal`

/** Counts of a product's installs without a license, by state. */
export type Unlicensed = {
  trial: number
  free_tier: number
  expired: number
  /** Machines with implausibly many installs. */
  sharedMachines: number
}

/**
 * Counts the installs of a product that have not activated a license since their last report. Reads counters that are
 * kept as installs report, since a product may have millions.
 */
export async function countUnlicensed(db: Pool, tenantId: string, productId: string): Promise<Unlicensed> {
  const { rows } = await db.query<Unlicensed>({
    name: 'count-unlicensed',
    text: `select coalesce(sum(installs) filter (where state = 'trial'), 0)::int as trial,
             coalesce(sum(installs) filter (where state = 'free_tier'), 0)::int as free_tier,
             coalesce(sum(installs) filter (where state = 'expired'), 0)::int as expired,
             (select count(*) from trials where tenant_id = $1 and product_id = $2 and shared)::int
               as "sharedMachines"
           from usage.unlicensed where tenant_id = $1 and product_id = $2`,
    values: [tenantId, productId],
  })
  return rows[0] ?? { trial: 0, free_tier: 0, expired: 0, sharedMachines: 0 }
}

/** Counts the machines with implausibly many installs, of all tenants. */
export async function countSharedMachines(db: Pool): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>({
    name: 'count-shared-machines',
    text: 'select count(*) from trials where shared',
  })
  return Number(rows[0]?.count ?? 0n)
}

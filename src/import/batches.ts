import type { PresentProduct } from '../../projections/products/queries.ts'
import type { ForeignLicense as ImportRow } from '../commands/licenses/import.ts'
import type { ForeignLicense, ForeignOrganization, SourceName, Unusable } from './foreign.ts'
import type { PlannedOrganization } from './plan/organizations.ts'
import { rowOf } from './plan/row.ts'
import type { Targets } from './plan/targets.ts'
import { createReasons, type OrganizationTally, type Report, type ReportLine, type Tally } from './report.ts'

/** A license with the row by which it is imported. */
export type Planned = {
  /** Its place among the licenses of the export, from 0. */
  order: number
  license: ForeignLicense
  row: ImportRow
  leftOut: readonly string[]
}
export type Batch = { product: PresentProduct; licenses: Planned[] }

export type Outcome = { status: 'imported' | 'already_there' } | { status: 'left_out'; reason: string }

/** Enough that waiting for the read models once a batch costs little for each license. */
const batchSize = 1000

/**
 * Collects what becomes of each license, for the tally and the report. Batches end in any order; what is said of their
 * licenses is in the order of the export. Each license that was read is settled once.
 */
export type Accounts = ReturnType<typeof createAccounts>

export function createAccounts(report: Report) {
  const reasons = createReasons()
  const notes = createReasons()
  const counts = {
    licenses: 0,
    imported: 0,
    alreadyThere: 0,
    leftOut: 0,
    otherProducts: 0,
    devices: 0,
    identified: 0,
  }
  const byStatus: Record<string, number> = {}
  const organizations = organizationAccounts(report)
  const say = inOrder((line: ReportLine) => {
    const kind = line.outcome === 'left_out' ? reasons : notes
    kind.add(line.reason, line.from)
    report.add(line)
  })
  type Named = Pick<Unusable, 'from' | 'externalId' | 'licenseKey'>
  const lineOf = (
    { from, externalId, licenseKey }: Named,
    outcome: ReportLine['outcome'],
    reason: string,
  ) => ({
    from,
    externalId,
    licenseKey,
    outcome,
    reason,
  })
  const leftOut = (order: number, license: Named, reason: string) => {
    counts.leftOut++
    say(order, [lineOf(license, 'left_out', reason)])
  }
  return {
    organizations,
    /** @returns the license's place among all */
    read: () => counts.licenses++,
    otherProduct(order: number) {
      counts.otherProducts++
      say(order, [])
    },
    leftOut,
    settled({ order, license, row, leftOut: sentences }: Planned, outcome: Outcome) {
      if (outcome.status === 'left_out') return leftOut(order, license, outcome.reason)
      if (outcome.status === 'already_there') counts.alreadyThere++
      else {
        counts.imported++
        counts.devices += row.devices?.length ?? 0
        counts.identified += row.devices?.filter(({ said }) => said !== undefined).length ?? 0
        byStatus[license.status] = (byStatus[license.status] ?? 0) + 1
      }
      say(
        order,
        sentences.map((reason) => lineOf(license, 'taken_in_part', reason)),
      )
    },
    tally: (): Tally => ({
      ...counts,
      byStatus,
      reasons: reasons.all().map(ofLicenses),
      notes: notes.all().map(ofLicenses),
      organizations: organizations.tally(),
    }),
  }
}

type Counted = ReturnType<ReturnType<typeof createReasons>['all']>[number]
const ofLicenses = ({ times, ...reason }: Counted) => ({ ...reason, licenses: times })
const ofOrganizations = ({ times, ...reason }: Counted) => ({ ...reason, organizations: times })

/** Collects what becomes of each organization, once each. They are settled before the licenses. */
function organizationAccounts(report: Report) {
  const reasons = createReasons()
  const notes = createReasons()
  const counts = { imported: 0, alreadyThere: 0, leftOut: 0, people: 0 }
  const say = (
    { from, externalId }: ForeignOrganization,
    outcome: ReportLine['outcome'],
    sentences: readonly string[],
  ) => {
    for (const reason of sentences) {
      const kind = outcome === 'left_out' ? reasons : notes
      kind.add(reason, from)
      report.add({ from, externalId, licenseKey: null, outcome, reason })
    }
  }
  return {
    leftOut(organization: ForeignOrganization, reason: string) {
      counts.leftOut++
      say(organization, 'left_out', [reason])
    },
    imported({ organization, row, leftOut }: PlannedOrganization, notices: readonly string[]) {
      counts.imported++
      counts.people += row.people.length
      say(organization, 'taken_in_part', [...leftOut, ...notices])
    },
    alreadyThere(organization: ForeignOrganization, notices: readonly string[]) {
      counts.alreadyThere++
      say(organization, 'taken_in_part', notices)
    },
    tally: (): OrganizationTally => ({
      ...counts,
      reasons: reasons.all().map(ofOrganizations),
      notes: notes.all().map(ofOrganizations),
    }),
  }
}

/** Passes on the entries of number 0, 1, 2 and so on. Those of a number wait until all before them have come. */
function inOrder<Entry>(write: (entry: Entry) => void) {
  const waiting = new Map<number, readonly Entry[]>()
  let next = 0
  return (order: number, entries: readonly Entry[]) => {
    waiting.set(order, entries)
    for (let due = waiting.get(next); due !== undefined; due = waiting.get(next)) {
      waiting.delete(next++)
      for (const entry of due) write(entry)
    }
  }
}

/** The customers that organizations are here, by their ids there; without those that cannot be taken. */
export type OrganizationCustomers = ReadonlyMap<string, string>

type Dividing = {
  targets: Targets
  source: SourceName
  accounts: Accounts
  customers: OrganizationCustomers
}

/** Divides the licenses of an export into batches of one product. Licenses without a row are settled at once. */
export async function* batchesOf(
  licenses: AsyncIterable<ForeignLicense | Unusable>,
  { targets, source, accounts, customers }: Dividing,
): AsyncIterable<Batch> {
  const open = new Map<string, Batch>()
  for await (const license of licenses) {
    const order = accounts.read()
    if ('problem' in license) {
      accounts.leftOut(order, license, license.problem)
      continue
    }
    const target = targets.of(license)
    if (!target) {
      accounts.otherProduct(order)
      continue
    }
    const { product, choice } = target
    const planned = rowOf(license, choice.keyType, source)
    if ('problem' in planned) {
      accounts.leftOut(order, license, planned.problem)
      continue
    }
    const batch = open.get(product.productId) ?? { product, licenses: [] }
    open.set(product.productId, batch)
    batch.licenses.push({ order, license, ...belonging(planned, license, customers) })
    if (batch.licenses.length < batchSize) continue
    open.delete(product.productId)
    yield batch
  }
  yield* open.values()
}

/** A license of an organization belongs to the customer that the organization is here. */
function belonging(
  { row, leftOut }: Pick<Planned, 'row' | 'leftOut'>,
  { organization }: ForeignLicense,
  customers: OrganizationCustomers,
): Pick<Planned, 'row' | 'leftOut'> {
  if (organization === undefined) return { row, leftOut }
  const customerId = customers.get(organization.externalId)
  if (customerId !== undefined) return { row: { ...row, customerId }, leftOut }
  return {
    row,
    leftOut: [...leftOut, 'Its organization is left out; it belongs to its holder, if it has one.'],
  }
}

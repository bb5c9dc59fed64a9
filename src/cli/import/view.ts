import { type Job, problemsOf } from '../../import/job.ts'
import type { KeyTypeChoice } from '../../import/plan/key-types.ts'
import type { Target } from '../../import/plan/targets.ts'
import type { OrganizationReason, OrganizationTally, Reason, Tally } from '../../import/report.ts'
import { table } from '../../terminal/output.ts'

const count = (number: number): string => number.toLocaleString('en-US')

/** What the import does, or would do, for programs. */
export function importData(job: Job, tally: Tally, applied: boolean) {
  return {
    applied,
    ...tally,
    keyTypes: job.targets.all.flatMap(({ product, choices }) =>
      [...choices.values()].map(({ variant, keyTypeId, state }) => ({
        productId: product.productId,
        policyId: variant.policy?.policyId ?? null,
        policyName: variant.policy?.name ?? null,
        entitlements: variant.entitlements,
        keyTypeId,
        state,
        licenses: variant.licenses,
      })),
    ),
    others: Object.fromEntries(job.targets.others),
    problems: problemsOf(job),
  }
}

/** The same for people. */
export function importLines(job: Job, tally: Tally, applied: boolean): string[] {
  return [
    ...job.targets.all.flatMap(keyTypeLines),
    ...otherLines(job),
    ...countLines(tally, applied),
    ...reasonLines(applied ? 'Not imported' : 'Cannot be imported', tally.reasons.map(ofLicenses)),
    ...reasonLines('Imported in part', tally.notes.map(ofLicenses)),
    ...organizationLines(tally.organizations, applied),
    ...problemLines(job),
    ...(applied ? [] : ['', 'Nothing was changed. To import them, run the same command with --apply.']),
  ]
}

function keyTypeLines({ product, choices }: Target): string[] {
  return [
    `Product ${product.productId}`,
    ...table([
      ['POLICY', 'LICENSES', 'KEY TYPE', '', 'DEVICES', 'DURATION', 'ON EXPIRY', 'ENTITLEMENTS'],
      ...[...choices.values()].map(keyTypeCells),
    ]),
    '',
  ]
}

function keyTypeCells({ variant, keyTypeId, state, keyType }: KeyTypeChoice): string[] {
  const { deviceLimit, duration, onExpiry, entitlements } = keyType
  const { policy, extra, missing } = variant
  const differences = [...extra.map((entry) => `+ ${entry}`), ...missing.map((entry) => `- ${entry}`)]
  return [
    [policy?.name ?? '(none)', ...differences].join(' '),
    count(variant.licenses),
    keyTypeId,
    state,
    deviceLimit === null ? 'unlimited' : String(deviceLimit),
    duration === null ? 'perpetual' : `${duration.count} ${duration.unit}`,
    onExpiry === 'fallback' ? 'falls back' : 'expires',
    entitlements.join(', ') || '-',
  ]
}

function otherLines({ targets }: Job): string[] {
  if (targets.others.size === 0) return []
  const products = [...targets.others].map(([product, licenses]) => `${product} (${count(licenses)})`)
  return [`Licenses of other products are not imported: ${products.join(', ')}`, '']
}

function countLines(tally: Tally, applied: boolean): string[] {
  const states = Object.entries(tally.byStatus).map(([status, licenses]) => `${count(licenses)} ${status}`)
  const identified =
    tally.identified === 0 ? '' : ` (${count(tally.identified)} recognized by their machines)`
  const details = [...states, `${count(tally.devices)} devices${identified}`].join(', ')
  return table([
    ['Licenses read', count(tally.licenses), ''],
    [applied ? 'Imported' : 'New', count(tally.imported), tally.imported === 0 ? '' : details],
    ['Imported before', count(tally.alreadyThere), tally.alreadyThere === 0 ? '' : 'unchanged'],
    [applied ? 'Not imported' : 'Cannot be imported', count(tally.leftOut), ''],
  ])
}

/** Nothing where the export has none. */
function organizationLines(tally: OrganizationTally, applied: boolean): string[] {
  const { imported, alreadyThere, leftOut, people, reasons, notes } = tally
  if (imported + alreadyThere + leftOut === 0) return []
  return [
    '',
    ...table([
      [applied ? 'Organizations imported' : 'New organizations', count(imported), `${count(people)} people`],
      ['Imported before', count(alreadyThere), alreadyThere === 0 ? '' : 'unchanged'],
      [applied ? 'Not imported' : 'Cannot be imported', count(leftOut), ''],
    ]),
    ...reasonLines(
      `Organizations that ${applied ? 'were not' : 'cannot be'} imported`,
      reasons.map(ofOrganizations),
    ),
    ...reasonLines('Organizations imported in part', notes.map(ofOrganizations)),
  ]
}

type Counted = { text: string; times: number; examples: readonly string[] }
const ofLicenses = ({ licenses, ...reason }: Reason): Counted => ({ ...reason, times: licenses })
const ofOrganizations = ({ organizations, ...reason }: OrganizationReason): Counted => ({
  ...reason,
  times: organizations,
})

function reasonLines(title: string, reasons: readonly Counted[]): string[] {
  if (reasons.length === 0) return []
  return [
    '',
    `${title}:`,
    ...table(
      reasons.map(({ text, times, examples }) => [
        `  ${count(times)}`,
        text,
        `such as ${examples.join(', ')}`,
      ]),
    ),
  ]
}

function problemLines(job: Job): string[] {
  const problems = problemsOf(job)
  return problems.length === 0
    ? []
    : ['', 'The import cannot start:', ...problems.map((problem) => `  ${problem}`)]
}

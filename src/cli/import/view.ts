import { type Job, problemsOf } from '../../import/job.ts'
import type { KeyTypeChoice } from '../../import/plan/key-types.ts'
import type { Target } from '../../import/plan/targets.ts'
import type { Reason, Tally } from '../../import/report.ts'
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
    ...reasonLines(applied ? 'Not imported' : 'Cannot be imported', tally.reasons),
    ...reasonLines('Imported in part', tally.notes),
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

function reasonLines(title: string, reasons: readonly Reason[]): string[] {
  if (reasons.length === 0) return []
  return [
    '',
    `${title}:`,
    ...table(
      reasons.map(({ text, licenses, examples }) => [
        `  ${count(licenses)}`,
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

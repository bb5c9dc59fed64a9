import type { NotaryLog } from '../../domain/notary/notary-log.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { AuditHistory } from '../../notary/audit/runs.ts'
import type { Covering } from '../../notary/covering.ts'
import type { WitnessState } from '../../notary/witnesses.ts'
import { ago, moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import {
  badge,
  copyable,
  copyableBlock,
  empty,
  facts,
  heading,
  notice,
  section,
  table,
} from '../frame/parts.ts'

type LogProof = {
  /** Undefined when the event store does not respond. */
  log: NotaryLog | undefined
  /** The newest, newest first. */
  checkpoints: readonly Covering[]
  isSuspended: boolean
  audits: AuditHistory
  witnesses: readonly WitnessState[]
  baseUrl: string
}

export function logProofView(view: View, shown: LogProof): Html {
  const { log, checkpoints, isSuspended, audits, witnesses, baseUrl } = shown
  const [last] = checkpoints
  return html`<div>
    ${heading(
      'Provable history',
      'The state of the whole log is signed about once a second. Keep one of these checkpoints, and you can prove later, without trusting this server, that nothing before it was changed.',
    )}
    ${isSuspended && notice('wrong', 'No checkpoint can be signed right now. The operator finds the reason with: keyledger notary status')}
    ${last === undefined && !isSuspended && empty('Nothing is signed yet', 'A server with the role notary signs the log a few seconds after it starts.')}
    ${section('Log', logFacts(view, log, last))}
    ${
      log?.origin !== undefined &&
      section(
        'Check it yourself',
        copyableBlock('commands', checkCommands(baseUrl, log)),
        'On any machine, with the public key and a checkpoint that you kept.',
      )
    }
    ${witnesses.length > 0 && section('Witnesses', witnessesTable(view, witnesses), 'Others who confirm each checkpoint, so that no two readers can be shown different logs.')}
    ${section('Audit', auditFacts(view, audits), 'An audit reads the whole log again and compares each event with what was signed.')}
    ${checkpoints.length > 0 && section('Last checkpoints', checkpointsTable(checkpoints))}
  </div>`
}

const logFacts = (view: View, log: NotaryLog | undefined, last: Covering | undefined): Html =>
  html`<div class="sheet stack">${facts([
    ['Name', log ? (log.origin ?? 'not started yet') : 'the event store does not respond'],
    ...(log?.keys ?? []).map((key) => ['Public key', copyable('public key', key)] as const),
    ['Events', last ? last.size.toLocaleString('en') : 'none'],
    ['Last signed', last ? ago(last.signedAt, view.now) : 'never'],
    ...(log?.predecessors ?? []).map(({ origin }) => ['Ended log', origin] as const),
  ])}</div>`

const checkCommands = (baseUrl: string, { keys }: NotaryLog): string =>
  [
    `curl -s ${baseUrl}/v1/transparency/checkpoint > kept-checkpoint`,
    `keyledger verify server ${baseUrl} --checkpoint kept-checkpoint \\`,
    `  --key ${keys[0] ?? ''}`,
  ].join('\n')

function auditFacts(view: View, { last, lastDone }: AuditHistory): Content {
  if (!last)
    return html`<p>No audit runs on schedule. The operator sets it up with KEYLEDGER_AUDIT_VERIFY_AT.</p>`
  const problems = lastDone?.report?.problems.length ?? 0
  return html`<div class="sheet stack">${facts([
    ['Last started', ago(last.startedAt, view.now)],
    [
      'Result',
      lastDone
        ? problems === 0
          ? badge('good', 'the log is the one that was signed')
          : badge('bad', `${String(problems)} ${problems === 1 ? 'problem' : 'problems'}`)
        : badge('warn', 'none yet'),
    ],
  ])}</div>`
}

const witnessesTable = (view: View, witnesses: readonly WitnessState[]): Html =>
  html`<div class="sheeted">${table({
    caption: 'Witnesses, and what each confirmed last',
    columns: [
      { label: 'Witness' },
      { label: 'Events', number: true },
      { label: 'Confirmed' },
      { label: 'Problem' },
    ],
    rows: witnesses.map(({ witness, size, cosignedAt, problem }) => [
      copyable('key of the witness', witness),
      size === null ? 'none' : Number(size).toLocaleString('en'),
      cosignedAt === null ? 'never' : ago(cosignedAt, view.now),
      problem === null ? 'none' : badge('bad', problem),
    ]),
  })}</div>`

const checkpointsTable = (checkpoints: readonly Covering[]): Html =>
  html`<div class="sheeted">${table({
    caption: 'The last checkpoints, newest first',
    columns: [{ label: 'Events', number: true }, { label: 'Signed' }],
    rows: checkpoints.map(({ size, signedAt }) => [size.toLocaleString('en'), moment(signedAt)]),
  })}</div>`

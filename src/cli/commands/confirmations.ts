import type { Command } from 'commander'
import { z } from 'zod'
import { withStores } from '../../app/with-stores.ts'
import {
  approve,
  deny,
  listApprovals,
  type ShownApproval,
  showApproval,
  withdraw,
} from '../../gate/approvals.ts'
import type { ShownEffect } from '../../gate/effects/shown.ts'
import { problemOfRefusal } from '../../http/problem.ts'
import { type OutputOptions, print, table } from '../../terminal/output.ts'
import { parsed } from '../arguments.ts'
import { topCommand } from '../context.ts'

type DecisionOptions = OutputOptions & { as?: string }

/** `keyledger confirmations …`: lists and approves confirmations on hosts without a browser. */
export function confirmationCommands(program: Command): void {
  const confirmations = topCommand(program, 'confirmations')

  confirmations
    .command('list')
    .description('List pending confirmations, the next to expire first')
    .option('--tenant <id>', 'only of this tenant; defaults to all tenants')
    .option('--json', 'print an array')
    .action((options: OutputOptions & { tenant?: string }) =>
      withStores(async ({ ports }) => {
        const approvals = await listApprovals(ports, options.tenant ?? null)
        print(options, approvals, () =>
          approvals.length === 0
            ? ['No pending confirmations.']
            : table([
                ['CONFIRMATION', 'TENANT', 'LEFT', 'TOKEN', 'WHAT'],
                ...approvals.map((approval) => [
                  approval.id,
                  approval.tenantId,
                  `${approval.expiresInSeconds} s`,
                  approval.token.name ?? approval.token.id,
                  approval.description?.summary ?? approval.title,
                ]),
              ]),
        )
      }),
    )

  confirmations
    .command('show <id>')
    .description('Show what will happen, who requested it and from where')
    .option('--json', 'print the confirmation')
    .action((id: string, options: OutputOptions) =>
      withStores(async ({ ports }) => {
        const approval = await showApproval(ports, null, id)
        print(options, approval, () => lines(approval))
      }),
    )

  decisionCommand(
    confirmations,
    'approve',
    'Approve: the token that requested it may execute it once',
    approve,
  )
  decisionCommand(confirmations, 'deny', 'Deny permanently', deny)
  decisionCommand(confirmations, 'withdraw', 'Withdraw an approval that was not used yet', withdraw)
}

function decisionCommand(
  confirmations: Command,
  name: 'approve' | 'deny' | 'withdraw',
  description: string,
  decide: typeof approve | typeof deny | typeof withdraw,
): void {
  confirmations
    .command(`${name} <id>`)
    .description(description)
    .option('--as <name>', 'who decides; defaults to the user of this host')
    .option('--json', 'print the confirmation')
    .action(async (id: string, options: DecisionOptions) => {
      const who = options.as === undefined ? undefined : parsed(OperatorName, options.as, '--as')
      await withStores(async ({ ports }, origin) => {
        await decide(ports, null, id, who === undefined ? origin : { ...origin, actor: `operator:${who}` })
        const approval = await showApproval(ports, null, id)
        const by = approval.withdrawnBy ?? approval.decidedBy
        print(options, approval, () => [`Confirmation ${id} is ${approval.status} by ${by}.`])
      })
    })
}

const OperatorName = z.string().regex(/^\S(?:.{0,98}\S)?$/, 'must be a name of at most 100 characters')

function lines(approval: ShownApproval): string[] {
  const { description, effect, token, client, impossible } = approval
  const { target, details = [] } = description ?? {}
  return [
    description?.summary ?? approval.title,
    ...(target ? [`  host  ${target.host}`, `  URL   ${target.url}`] : []),
    ...details.map(([label, value]) => `  ${label}: ${value}`),
    ...(effect ? effectLines(effect, approval.changedSinceRequest) : []),
    ...(approval.changedSinceRequest ? ['! This has changed since the request.'] : []),
    ...(impossible === undefined ? [] : [`! It would fail now: ${problemOfRefusal(impossible).message}`]),
    '',
    ...table([
      ['status', statusLine(approval)],
      ['request', `${approval.method} ${approval.path} ${JSON.stringify(approval.parameters)}`],
      ['tenant', approval.tenantId],
      ['token', token.name === null ? token.id : `${token.name} (${token.id})`],
      ['from', `${client.address ?? 'no address'}, ${client.userAgent ?? 'no user agent'}`],
      ['requested', approval.requestedAt],
    ]),
  ]
}

/** @param isMarked whether a line already says that something has changed */
function effectLines({ refusal, sentences, sinceAsked }: ShownEffect, isMarked: boolean): string[] {
  if (refusal !== null) return []
  return [
    '',
    sentences.length === 0 ? 'It would change nothing now.' : 'It would change now:',
    ...sentences.map((sentence) => `  - ${sentence}`),
    ...sinceAskedLines(sinceAsked, isMarked),
  ]
}

function sinceAskedLines(sinceAsked: ShownEffect['sinceAsked'], isMarked: boolean): string[] {
  if (!sinceAsked) return []
  const { before, now } = sinceAsked
  if (before.length === 0 && now.length === 0) return isMarked ? [] : ['The same as when it was requested.']
  return [
    '! When it was requested, it would have changed:',
    ...(before.length === 0 ? ['  - less than now'] : before.map((sentence) => `  - ${sentence}`)),
  ]
}

function statusLine(approval: ShownApproval): string {
  const { status, expiresInSeconds, expiresAt, usableForSeconds, decidedBy, decidedAt, reason } = approval
  const { withdrawnBy, withdrawnAt } = approval
  switch (status) {
    case 'pending':
      return `pending, ${expiresInSeconds} s left`
    case 'expired':
      return decidedAt === null
        ? `expired at ${expiresAt}`
        : `expired: approved by ${decidedBy} at ${decidedAt}, but not used in time`
    case 'approved':
      return `approved by ${decidedBy} at ${decidedAt}, ${usableForSeconds} s left to use it`
    case 'denied':
    case 'consumed':
      if (withdrawnAt !== null)
        return `denied: the approval was withdrawn by ${withdrawnBy} at ${withdrawnAt}`
      return `${status}, decided by ${decidedBy} at ${decidedAt}`
    case 'executed':
      return `${reason === null ? 'executed' : `failed when executed (${reason})`}, approved by ${decidedBy} at ${decidedAt}`
  }
}

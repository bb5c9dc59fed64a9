import type { Command } from 'commander'
import { z } from 'zod'
import { type Approval, approve, deny, listApprovals, showApproval } from '../../gate/approvals.ts'
import { problemOfRefusal } from '../../http/problem.ts'
import { parsed } from '../arguments.ts'
import { type OutputOptions, print, table } from '../output.ts'
import { withStores } from '../with-stores.ts'

type DecisionOptions = OutputOptions & { as?: string }

/** `keyledger confirmations …`: what waits for a person's approval, for hosts without a browser. */
export function confirmationCommands(program: Command): void {
  const confirmations = program
    .command('confirmations')
    .description('Dangerous operations that wait for a person to approve them')

  confirmations
    .command('list')
    .description('Those that wait, the one that expires first at the top')
    .option('--tenant <id>', "of this tenant alone; every tenant's when absent")
    .option('--json', 'print an array')
    .action((options: OutputOptions & { tenant?: string }) =>
      withStores(async ({ services }) => {
        const approvals = await listApprovals(services, options.tenant ?? null)
        print(options, approvals, () =>
          approvals.length === 0
            ? ['Nothing waits for an approval.']
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
    .description('What exactly will happen, who asked for it and from where')
    .option('--json', 'print the confirmation')
    .action((id: string, options: OutputOptions) =>
      withStores(async ({ services }) => {
        const approval = await showApproval(services, null, id)
        print(options, approval, () => lines(approval))
      }),
    )

  decisionCommand(confirmations, 'approve', 'Let it be executed once, by the token that asked', approve)
  decisionCommand(confirmations, 'deny', 'Refuse it for good', deny)
}

function decisionCommand(
  confirmations: Command,
  name: 'approve' | 'deny',
  description: string,
  decide: typeof approve,
): void {
  confirmations
    .command(`${name} <id>`)
    .description(description)
    .option('--as <name>', 'who decides; the user of this host when absent')
    .option('--json', 'print the confirmation')
    .action(async (id: string, options: DecisionOptions) => {
      const who = options.as === undefined ? undefined : parsed(OperatorName, options.as, '--as')
      await withStores(async ({ services }, origin) => {
        await decide(services, null, id, who === undefined ? origin : { ...origin, actor: `operator:${who}` })
        const approval = await showApproval(services, null, id)
        print(options, approval, () => [`Confirmation ${id} is ${approval.status} by ${approval.decidedBy}.`])
      })
    })
}

const OperatorName = z.string().regex(/^\S(?:.{0,98}\S)?$/, 'must be a name of at most 100 characters')

function lines(approval: Approval): string[] {
  const { description, token, client, impossible } = approval
  return [
    description?.summary ?? approval.title,
    ...(description?.consequences ?? []).map((consequence) => `  - ${consequence}`),
    ...(approval.changedSinceAsked ? ['! It is not as it was when this was asked for.'] : []),
    ...(impossible === undefined ? [] : [`! It could not run now: ${problemOfRefusal(impossible).message}`]),
    '',
    ...table([
      ['status', statusLine(approval)],
      ['request', `${approval.method} ${approval.path} ${JSON.stringify(approval.parameters)}`],
      ['tenant', approval.tenantId],
      ['token', token.name === null ? token.id : `${token.name} (${token.id})`],
      ['from', `${client.address}, ${client.userAgent ?? 'no user agent'}`],
      ['asked', approval.askedAt],
    ]),
  ]
}

function statusLine({ status, expiresInSeconds, expiresAt, decidedBy, decidedAt, reason }: Approval): string {
  switch (status) {
    case 'pending':
      return `pending, ${expiresInSeconds} s left`
    case 'expired':
      return `expired at ${expiresAt}`
    case 'approved':
    case 'denied':
    case 'consumed':
      return `${status}, decided by ${decidedBy} at ${decidedAt}`
    case 'executed':
      return `${reason === null ? 'executed' : `refused when it was run (${reason})`}, approved by ${decidedBy} at ${decidedAt}`
  }
}

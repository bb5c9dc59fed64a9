import type { Command } from 'commander'
import { findMember, listMembers, type PresentMember } from '../../../projections/members.ts'
import { findTenant } from '../../../projections/tenants.ts'
import { baseUrlOf } from '../../app/start/own-address.ts'
import { withStores } from '../../app/with-stores.ts'
import {
  addMember,
  changeRole,
  emailOf,
  findMemberByEmail,
  type IssuedLink,
  issueLink,
  removeMember,
} from '../../commands/members/members.ts'
import { parseConfig } from '../../config.ts'
import { isId } from '../../credentials/id.ts'
import { welcomePath } from '../../dashboard/welcome/route.ts'
import { GivenRole, Role } from '../../domain/members/roles.ts'
import { Refusal } from '../../domain/refusal.ts'
import { EmailAddress } from '../../domain/values.ts'
import type { Ports } from '../../ports.ts'
import { type OutputOptions, print, table } from '../../terminal/output.ts'
import { parsed } from '../arguments.ts'
import { topCommand } from '../context.ts'

type Options = OutputOptions & { tenant: string }

const roleWords = `${Role.options.join(', ')}, or the id of a custom role`

/** `keyledger member …`: the members of a tenant. */
export function memberCommands(program: Command): void {
  const member = topCommand(program, 'member')
  addCommand(member)
  listCommand(member)

  member
    .command('link <member>')
    .description('Create a one-time link for a member, given by email or id, who has lost access')
    .requiredOption('--tenant <id>')
    .option('--json', 'print {memberId, link, expiresAt}')
    .action((named: string, options: Options) =>
      withStores(async ({ ports }, origin) => {
        const { memberId } = await requireMember(ports, options.tenant, named)
        const issued = await issueLink(ports, options.tenant, memberId, 'recovery', origin)
        printLink(options, memberId, issued)
      }),
    )

  member
    .command('role <member> <role>')
    .description(`Change what a member may do: ${roleWords}`)
    .requiredOption('--tenant <id>')
    .option('--json', 'print {memberId, role}')
    .action((named: string, roleText: string, options: Options) =>
      withStores(async ({ ports }, origin) => {
        const role = parsed(GivenRole, roleText, 'the role')
        const { memberId } = await requireMember(ports, options.tenant, named)
        await changeRole(ports, options.tenant, memberId, role, origin)
        print(options, { memberId, role }, () => [`${named} is now ${role}.`])
      }),
    )

  member
    .command('remove <member>')
    .description('Remove a member and sign them out everywhere')
    .requiredOption('--tenant <id>')
    .option('--json', 'print {memberId, removed}')
    .action((named: string, options: Options) =>
      withStores(async ({ ports }, origin) => {
        const { memberId } = await requireMember(ports, options.tenant, named)
        await removeMember(ports, options.tenant, memberId, origin)
        print(options, { memberId, removed: true }, () => [`${named} is no longer a member.`])
      }),
    )
}

function addCommand(member: Command): void {
  member
    .command('add <email>')
    .description('Add a member and create a one-time link to set up their sign-in')
    .requiredOption('--tenant <id>')
    .option('--role <role>', roleWords, 'owner')
    .option('--json', 'print {memberId, link, expiresAt}')
    .action((address: string, options: Options & { role: string }) =>
      withStores(async ({ ports }, origin) => {
        const role = parsed(GivenRole, options.role, '--role')
        const email = parsed(EmailAddress, address, 'the email address')
        const { tenant: tenantId } = options
        if (!(await findTenant(ports.db, tenantId))) throw new Refusal('tenant_not_found')
        const memberId = await addMember(ports, { tenantId, role, email }, origin)
        printLink(options, memberId, await issueLink(ports, tenantId, memberId, 'invitation', origin))
      }),
    )
}

function listCommand(member: Command): void {
  member
    .command('list')
    .description('List the members of a tenant, oldest first')
    .requiredOption('--tenant <id>')
    .option('--json', 'print an array of {memberId, email, role, createdAt}')
    .action((options: Options) =>
      withStores(async ({ ports }) => {
        const members = await Promise.all(
          (await listMembers(ports.db, options.tenant)).map(async (found) => {
            const { memberId, role, createdAt } = found
            return { memberId, email: await emailOf(ports, found), role, createdAt }
          }),
        )
        print(options, members, () =>
          table([
            ['MEMBER', 'ROLE', 'SINCE', 'E-MAIL'],
            ...members.map(({ memberId, role, createdAt, email }) => [
              memberId,
              role,
              createdAt,
              email ?? 'erased',
            ]),
          ]),
        )
      }),
    )
}

async function requireMember(
  ports: Ports<'db' | 'subjects'>,
  tenantId: string,
  named: string,
): Promise<PresentMember> {
  const found = isId('mem', named)
    ? await findMember(ports.db, tenantId, named)
    : await findMemberByEmail(ports, tenantId, named)
  if (!found) throw new Refusal('member_not_found')
  return found
}

/** The URL of a one-time link on this installation. */
export function linkAddress(secret: string): string {
  return `${baseUrlOf(parseConfig(process.env))}${welcomePath(secret)}`
}

function printLink(options: OutputOptions, memberId: string, { secret, expiresAt }: IssuedLink): void {
  const link = linkAddress(secret)
  print(options, { memberId, link, expiresAt }, () => [link])
}

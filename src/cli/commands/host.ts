import type { Command } from 'commander'
import { findTenant } from '../../../projections/tenants.ts'
import { withStores } from '../../app/with-stores.ts'
import { addMember, findMemberByEmail, issueLink } from '../../commands/members/members.ts'
import type { Origin } from '../../commands/origin.ts'
import { createTenant } from '../../commands/tenants.ts'
import { ConfigError, parseConfig } from '../../config.ts'
import { EmailAddress, Slug } from '../../domain/values.ts'
import type { Ports } from '../../ports.ts'
import { type OutputOptions, print } from '../../terminal/output.ts'
import { parsed } from '../arguments.ts'
import { topCommand } from '../context.ts'
import { linkAddress } from './member.ts'

/** One-time commands for operators. */
export function hostCommands(program: Command): void {
  topCommand(program, 'init')
    .option('--tenant <id>')
    .option('--owner <email>', "the tenant's first owner; needs --tenant")
    .option('--json', 'print {dataDirectory, tenantId, ownerId, ownerLink}')
    .action(init)

  topCommand(program, 'migrate')
    .option('--json', 'print {migrated}')
    .action((options: OutputOptions) =>
      withStores(async () =>
        print(options, { migrated: true }, () => ['The schemas and the read models are at this version.']),
      ),
    )
}

async function init(options: OutputOptions & { tenant?: string; owner?: string }): Promise<void> {
  const tenantId = options.tenant === undefined ? undefined : parsed(Slug, options.tenant, '--tenant')
  const email = options.owner === undefined ? undefined : parsed(EmailAddress, options.owner, '--owner')
  if (email !== undefined && tenantId === undefined) throw new ConfigError('--owner needs --tenant')
  await withStores(
    async ({ ports }, origin) => {
      if (tenantId !== undefined && !(await findTenant(ports.db, tenantId))) {
        await createTenant(ports, { tenantId, name: tenantId, plan: 'unlimited' }, origin)
      }
      const owner =
        tenantId === undefined || email === undefined
          ? undefined
          : await ownerWithLink(ports, tenantId, email, origin)
      const { dataDirectory } = parseConfig(process.env)
      print(options, { dataDirectory, tenantId, ...owner }, () => [
        `${dataDirectory} is ready.`,
        ...(tenantId === undefined
          ? []
          : [`Tenant ${tenantId} exists. Create a token: keyledger token create`]),
        ...(owner === undefined ? [] : [`One-time link for ${email}, valid for 72 hours:`, owner.ownerLink]),
      ])
    },
    { mayCreate: true },
  )
}

/** When the owner exists already, only a new link is issued. */
async function ownerWithLink(
  ports: Ports<'db' | 'execute' | 'ledger' | 'now' | 'randomBytes' | 'subjects'>,
  tenantId: string,
  email: string,
  origin: Origin,
) {
  const found = await findMemberByEmail(ports, tenantId, email)
  const ownerId = found?.memberId ?? (await addMember(ports, { tenantId, role: 'owner', email }, origin))
  const { secret } = await issueLink(ports, tenantId, ownerId, found ? 'recovery' : 'invitation', origin)
  return { ownerId, ownerLink: linkAddress(secret) }
}

import type { Command } from 'commander'
import { z } from 'zod'
import { projectionStatus } from '../../../projections/runner/status.ts'
import { findTenant } from '../../../projections/tenants/queries.ts'
import { addMember, findMemberByEmail, issueLink } from '../../commands/members.ts'
import type { Origin, Services } from '../../commands/services.ts'
import { createTenant } from '../../commands/tenants.ts'
import { ConfigError, parseConfig } from '../../config.ts'
import { Slug } from '../../domain/values.ts'
import { connectFeed } from '../../webhooks/nats.ts'
import { parsed } from '../arguments.ts'
import { exitCode } from '../exit.ts'
import { type OutputOptions, print, table } from '../output.ts'
import { createReadiness } from '../readiness.ts'
import { withStores } from '../with-stores.ts'
import { linkAddress } from './member.ts'

/** What an operator does once, or when something seems wrong. */
export function hostCommands(program: Command): void {
  program
    .command('init')
    .description('Prepare the data directory, the master key and the schemas; with --tenant also a tenant')
    .option('--tenant <id>')
    .option('--owner <e-mail>', "the tenant's first owner; needs --tenant")
    .option('--json', 'print {dataDirectory, tenantId, ownerId, ownerLink}')
    .action(init)

  program
    .command('migrate')
    .description('Bring the schemas and the read models to this version')
    .option('--json', 'print {migrated}')
    .action((options: OutputOptions) =>
      withStores(async () => print(options, { migrated: true }, () => ['Everything is at this version.'])),
    )

  program
    .command('doctor')
    .description('Look at every part and say what is wrong and how to mend it')
    .option('--json', 'print {parts, projection}')
    .action(doctor)
}

async function init(options: OutputOptions & { tenant?: string; owner?: string }): Promise<void> {
  const tenantId = options.tenant === undefined ? undefined : parsed(Slug, options.tenant, '--tenant')
  const email = options.owner === undefined ? undefined : parsed(z.email(), options.owner, '--owner')
  if (email !== undefined && tenantId === undefined) throw new ConfigError('--owner needs --tenant')
  await withStores(async ({ services }, origin) => {
    if (tenantId !== undefined && !(await findTenant(services.db, tenantId))) {
      await createTenant(services, { tenantId, name: tenantId, plan: 'unlimited' }, origin)
    }
    const owner =
      tenantId === undefined || email === undefined
        ? undefined
        : await ownerWithLink(services, tenantId, email, origin)
    const { dataDirectory } = parseConfig(process.env)
    print(options, { dataDirectory, tenantId, ...owner }, () => [
      `${dataDirectory} is ready.`,
      ...(tenantId === undefined
        ? []
        : [`Tenant ${tenantId} is there; make a token: keyledger token create`]),
      ...(owner === undefined
        ? []
        : [`${email} comes in by this link, once, within 72 hours:`, owner.ownerLink]),
    ])
  })
}

/** Asked for again, the owner that is there gets a new link. */
async function ownerWithLink(services: Services, tenantId: string, email: string, origin: Origin) {
  const found = await findMemberByEmail(services, tenantId, email)
  const ownerId = found?.memberId ?? (await addMember(services, { tenantId, role: 'owner', email }, origin))
  const { secret } = await issueLink(services, tenantId, ownerId, found ? 'recovery' : 'invitation', origin)
  return { ownerId, ownerLink: linkAddress(secret) }
}

async function doctor(options: OutputOptions): Promise<void> {
  const { natsUrl } = parseConfig(process.env)
  await withStores(async ({ services }) => {
    const feed = natsUrl === undefined ? undefined : connectFeed(natsUrl, () => undefined)
    try {
      await feed?.firstTry
      const { parts } = await createReadiness(services, feed)()
      const projection = await projectionStatus(services.db, services.ledger)
      const healthy =
        Object.values(parts).every(({ ok, required }) => ok || !required) && projection.parked.length === 0
      print(options, { healthy, parts, projection }, () => [
        ...table(
          Object.entries(parts).map(([name, { ok, detail }]) => [name, ok ? 'ok' : 'FAILS', detail ?? '']),
        ),
        `read models: ${projection.lagEvents} events behind, ${projection.parked.length} streams set aside`,
        ...(projection.parked.length === 0 ? [] : ['  see: keyledger projections status']),
      ])
      if (!healthy) process.exitCode = exitCode.unavailable
    } finally {
      await feed?.close()
    }
  })
}

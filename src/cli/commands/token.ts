import type { Command } from 'commander'
import { z } from 'zod'
import { findTenant } from '../../../projections/tenants.ts'
import { withStores } from '../../app/with-stores.ts'
import { createToken } from '../../commands/tokens.ts'
import { Refusal } from '../../domain/refusal.ts'
import { Scope } from '../../domain/tokens/events.ts'
import { type OutputOptions, print } from '../../terminal/output.ts'
import { momentAfter, parsed } from '../arguments.ts'
import { topCommand } from '../context.ts'

type CreateOptions = OutputOptions & { tenant: string; scopes: string; expires?: string; name: string }

/** `keyledger token …`: access tokens of a tenant. */
export function tokenCommands(program: Command): void {
  const token = topCommand(program, 'token')

  token
    .command('create')
    .description('Create a token; it is printed only once')
    .requiredOption('--tenant <id>')
    .requiredOption('--scopes <list>', `comma-separated, of ${Scope.options.join(', ')}`)
    .option('--expires <duration>', 'for example 30d; never expires when absent')
    .option('--name <name>', 'what the token is for', 'created on the host')
    .option('--json', 'print {tokenId, token, scopes, expiresAt}')
    .action(async (options: CreateOptions) => {
      const scopes = parsed(z.array(Scope).min(1), options.scopes.split(','), '--scopes')
      const name = parsed(z.string().min(1).max(200), options.name, '--name')
      await withStores(async ({ ports }, origin) => {
        if (!(await findTenant(ports.db, options.tenant))) throw new Refusal('tenant_not_found')
        const expiresAt = options.expires === undefined ? null : momentAfter(ports.now(), options.expires)
        const created = await createToken(
          ports,
          { tenantId: options.tenant, name, scopes, expiresAt },
          origin,
        )
        print(options, created, () => [created.token])
      })
    })
}

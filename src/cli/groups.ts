import type { Register } from './context.ts'

/** Commands that are loaded together, and the first words that load them. */
export type CommandGroup = {
  words: readonly string[]
  /** `host` commands open the stores of this machine, `network` commands call a server. */
  where: 'host' | 'network'
  load: () => Promise<Register>
}

const host = (words: readonly string[], load: CommandGroup['load']): CommandGroup => ({
  words,
  where: 'host',
  load,
})
const network = (words: readonly string[], load: CommandGroup['load']): CommandGroup => ({
  words,
  where: 'network',
  load,
})

/** The commands that call a server with a token, in the order of the help. */
const networkGroups: readonly CommandGroup[] = [
  network(['login', 'logout', 'whoami', 'profiles'], async () => {
    return (await import('./commands/remote/session.ts')).sessionCommands
  }),
  network(
    [
      'products',
      'key-types',
      'licenses',
      'customers',
      'webhooks',
      'events',
      'integrations',
      'sales',
      'test-purchases',
      'usage',
      'insights',
      'refusals',
      'portal',
      'workspace',
      'tokens',
      'confirmations',
      'sdk-key',
      'audit',
      'transparency',
    ],
    async () => (await import('./commands/remote/operations.ts')).operationCommands,
  ),
  network(['listen', 'trigger'], async () => {
    return (await import('./commands/remote/listen.ts')).listenCommands
  }),
  network(['verify'], async () => (await import('./commands/verify.ts')).verifyCommands),
  network(['witness'], async () => (await import('./commands/witness.ts')).witnessCommand),
  network(['completion'], async () => (await import('./commands/completion.ts')).completionCommand),
  network(['api'], async () => (await import('./commands/remote/api.ts')).apiCommand),
  network(['mcp'], async () => (await import('./commands/remote/mcp.ts')).mcpCommand),
]

/** The commands of operators, in the order of the help. */
const hostGroups: readonly CommandGroup[] = [
  host(['serve'], async () => (await import('./commands/serve.ts')).serveCommand),
  host(['demo'], async () => (await import('./commands/demo.ts')).demoCommand),
  host(['init', 'migrate'], async () => (await import('./commands/host.ts')).hostCommands),
  host(['config'], async () => (await import('./commands/config.ts')).configCommand),
  host(['doctor'], async () => (await import('./commands/doctor.ts')).doctorCommand),
  host(['freeze', 'unfreeze'], async () => (await import('./commands/freeze.ts')).freezeCommands),
  host(['copy'], async () => (await import('./commands/copy.ts')).copyCommand),
  host(['tenant'], async () => (await import('./commands/tenant.ts')).tenantCommands),
  host(['member'], async () => (await import('./commands/member.ts')).memberCommands),
  host(['token'], async () => (await import('./commands/token.ts')).tokenCommands),
  host(['keys', 'checkout-key'], async () => (await import('./commands/keys.ts')).keyCommands),
  host(['webhook', 'webhooks'], async () => (await import('./commands/webhook.ts')).webhookCommands),
  host(['import'], async () => (await import('./commands/import.ts')).importCommand),
  host(['events'], async () => (await import('./commands/events.ts')).eventCommands),
  host(['test-purchase'], async () => (await import('./commands/test-purchase.ts')).testPurchaseCommand),
  host(['subject'], async () => (await import('./commands/subject.ts')).subjectCommands),
  host(['confirmations'], async () => (await import('./commands/confirmations.ts')).confirmationCommands),
  host(['projections'], async () => (await import('./commands/projections.ts')).projectionCommands),
  host(['backup', 'restore'], async () => (await import('./commands/backup.ts')).backupCommands),
  host(['notary'], async () => (await import('./commands/notary.ts')).notaryCommands),
  host(['audit'], async () => (await import('./commands/audit.ts')).auditCommands),
]

/** Every command, those over the network first. */
export const commandGroups: readonly CommandGroup[] = [...networkGroups, ...hostGroups]

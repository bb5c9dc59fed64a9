import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { findExposures } from '../../../infra/local/stack/exposure.ts'
import { listConnectedProviders } from '../../../projections/integrations.ts'
import { type ProjectionStatus, projectionStatus } from '../../../projections/runner/status.ts'
import { failureOf } from '../../app/exit.ts'
import { createLog } from '../../app/log.ts'
import { createReadiness } from '../../app/readiness.ts'
import { requireLedger } from '../../app/start/ledger-here.ts'
import { openStores, type Stores } from '../../app/stores.ts'
import { TimeoutError, withTimeout } from '../../async/timeout.ts'
import { type Config, ConfigError, parseConfig } from '../../config.ts'
import type { Provider } from '../../domain/integrations/provider.ts'
import { EmailAddress } from '../../domain/values.ts'
import type { OtherClock } from '../../ledger/connection/clock-difference.ts'
import { exitCode } from '../../terminal/exit-codes.ts'
import { type OutputOptions, print, table } from '../../terminal/output.ts'
import { connectFeed } from '../../webhooks/nats-feed.ts'
import { parsed } from '../arguments.ts'
import { topCommand } from '../context.ts'
import { type Check, type CheckResults, runChecks } from '../doctor/check.ts'
import { diskCheck } from '../doctor/disk.ts'
import {
  auditsCheck,
  backupsCheck,
  clockCheck,
  configurationCheck,
  rolesCheck,
  workersCheck,
} from '../doctor/installation.ts'
import { mailCheck } from '../doctor/mail.ts'
import { portCheck } from '../doctor/port.ts'
import { type ProviderCheck, providerChecks, reachProviders } from '../doctor/providers.ts'
import { databaseRightsCheck, natsResult, versionsCheck, withRemedy } from '../doctor/stores.ts'

/** A rebuild of the read models may take longer; the report then lacks the checks that need the stores. */
const openingMs = 30_000
/** How long to wait for connections to close. */
const closingMs = 10_000
/** Another check reports a store that does not respond, so these queries give up early. */
const queryMs = 5000
/** How long unfinished checks may delay the exit. */
const leftoverMs = 500

export function doctorCommand(program: Command): void {
  topCommand(program, 'doctor')
    .option('--send-test-mail <address>', 'send a test mail to this address')
    .option('--json', 'print {healthy, parts, projection, exposures}')
    .action(doctor)
}

type Exposures = { open: { path: string; problem: string }[]; closed: { path: string; problem: string }[] }

type StoresReport = {
  parts: CheckResults
  ended: boolean
  projection: ProjectionStatus | null
  /** The exit code when the stores could not be opened. */
  code?: number
}

async function doctor(options: OutputOptions & { sendTestMail?: string }): Promise<void> {
  const config = parseConfig(process.env)
  requireLedger(config)
  const testMailTo =
    options.sendTestMail === undefined
      ? undefined
      : parsed(EmailAddress, options.sendTestMail, '--send-test-mail')
  if (testMailTo !== undefined && config.mail.smtpUrl === undefined)
    throw new ConfigError('--send-test-mail needs a mail server. Set KEYLEDGER_SMTP_URL.')
  const exposuresNow = () => (holdsData(config) ? findExposures(config.dataDirectory) : [])
  // Opening the stores also restricts file permissions.
  const openBefore = exposuresNow()
  const [outside, stores] = await Promise.all([
    runChecks([
      configurationCheck(config.dataDirectory),
      portCheck(config),
      workersCheck(config),
      diskCheck(config.dataDirectory),
      mailCheck(config, testMailTo),
    ]),
    checkStores(config),
  ])
  const open = exposuresNow()
  const closed = openBefore.filter(({ path }) => open.every((exposure) => exposure.path !== path))
  const parts: CheckResults = {
    ...stores.parts,
    data_directory: {
      ok: open.length === 0,
      required: true,
      ...(open.length > 0 && { detail: 'accessible to other users of this machine' }),
    },
    ...outside.found,
  }
  // Parked streams affect single tenants: they are reported, but the installation is healthy.
  const healthy = Object.values(parts).every(({ ok, required }) => ok || !required)
  const report = { healthy, parts, projection: stores.projection, exposures: { open, closed } }
  print(options, report, () => lines(parts, stores.projection, { open, closed }))
  if (!healthy) process.exitCode = stores.code ?? exitCode.unavailable
  if (!stores.ended || !outside.ended) setTimeout(() => process.exit(), leftoverMs).unref()
}

function lines(
  parts: CheckResults,
  projection: ProjectionStatus | null,
  { open, closed }: Exposures,
): string[] {
  const word = ({ ok, required }: CheckResults[string]) => (ok ? 'ok' : required ? 'FAILS' : 'warning')
  return [
    ...table(Object.entries(parts).map(([name, finding]) => [name, word(finding), finding.detail ?? ''])),
    ...Object.entries(parts).flatMap(([name, { remedy }]) =>
      remedy === undefined ? [] : [`  ${name}: ${remedy}`],
    ),
    ...open.map(({ problem }) => `  ${problem}`),
    ...closed.map(
      ({ path }) => `  ${path} was accessible to other users; keyledger has removed their access`,
    ),
    ...(projection === null
      ? []
      : [
          `read models: ${projection.lagEvents} events behind, ${projection.parked.length} parked streams`,
          ...(projection.parked.length === 0 ? [] : ['  see: keyledger projections status']),
        ]),
  ]
}

/** Opens the stores and runs the checks that need them. A failure to open them is a result, too. */
async function checkStores(config: Config): Promise<StoresReport> {
  const log = createLog(process.env.KEYLEDGER_LOG_LEVEL === undefined ? 'warn' : config.logLevel)
  let stores: Stores
  try {
    stores = await withTimeout(openStores(config, log), openingMs)
  } catch (error) {
    return notOpened(config, error)
  }
  try {
    return await checkOpenStores(config, stores)
  } finally {
    await withTimeout(stores.close(), closingMs).catch(() => undefined)
  }
}

async function notOpened(config: Config, error: unknown): Promise<StoresReport> {
  const known = config.payments.stripeSecretKey === undefined ? [] : (['stripe'] as const)
  const reached = reachProviders(known, config.payments)
  const { found, ended } = await runChecks([
    ...providerChecks(known, reached),
    clocks(reached, async () => []),
  ])
  if (error instanceof TimeoutError) {
    const detail = `not open after ${openingMs / 1000} s`
    const remedy =
      'the read models may be rebuilding: run doctor again later, and check the log of the server'
    const stores = { ok: false, required: true, detail, remedy }
    return { parts: { stores, ...found }, ended: false, projection: null }
  }
  const { message, code } = failureOf(error)
  // An internal error ends the command with its stack trace.
  if (message === undefined || code === exitCode.internal) throw error
  return {
    parts: { stores: { ok: false, required: true, detail: message }, ...found },
    ended,
    projection: null,
    code,
  }
}

async function checkOpenStores(
  config: Config,
  { ports, clocks: storeClocks }: Stores,
): Promise<StoresReport> {
  const { db, ledger } = ports
  const feed = config.natsUrl === undefined ? undefined : connectFeed(config.natsUrl, () => undefined)
  try {
    await feed?.firstTry
    const readiness = await createReadiness(ports, undefined)()
    const providers = await providersInUse(config, () => listConnectedProviders(db))
    const reached = reachProviders(providers, config.payments)
    const { found, ended } = await runChecks([
      versionsCheck(db, feed),
      databaseRightsCheck(db),
      rolesCheck(db),
      ...(config.backups ? [backupsCheck(db, config.backups)] : []),
      ...(config.auditAt === undefined ? [] : [auditsCheck(db)]),
      clocks(reached, () => storeClocks.read()),
      ...providerChecks(providers, reached),
    ])
    const parts: CheckResults = {
      ...Object.fromEntries(
        Object.entries(readiness.parts).map(([name, health]) => [name, withRemedy(name, health)]),
      ),
      ...(feed && { nats: natsResult(feed) }),
      ...found,
    }
    const projection = await withTimeout(projectionStatus(db, ledger), queryMs).catch(() => null)
    return { parts, ended, projection }
  } finally {
    await feed?.close()
  }
}

/** The platform's own card provider, and every provider that a tenant has connected. */
async function providersInUse(config: Config, connected: () => Promise<Provider[]>): Promise<Provider[]> {
  const platform: Provider[] = config.payments.stripeSecretKey === undefined ? [] : ['stripe']
  return [...new Set([...platform, ...(await withTimeout(connected(), queryMs).catch(() => []))])]
}

function clocks(reached: Promise<readonly ProviderCheck[]>, ofStores: () => Promise<OtherClock[]>): Check {
  return clockCheck(async () => {
    const [providers, own] = await Promise.all([reached, ofStores()])
    return [...own, ...providers.flatMap((one) => one.clocks)]
  })
}

/** With external stores and an external master key, the data directory contains only locks. */
function holdsData({ dataDirectory, databaseUrl, eventstoreUrl }: Config): boolean {
  const embedded = databaseUrl === undefined || eventstoreUrl === undefined
  return embedded || ['master.key', 'mailbox'].some((name) => existsSync(join(dataDirectory, name)))
}

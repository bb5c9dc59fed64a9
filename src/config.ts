import { resolve } from 'node:path'
import { z } from 'zod'
import type { Schedule } from './backup/schedule.ts'
import { type ConnectionBounds, defaultBounds, shownValue } from './config/shown.ts'
import { parseTracing, type TracingSettings } from './config/tracing.ts'
import { unknownVariables } from './config/unknown.ts'
import {
  api,
  decimal,
  logOrigin,
  networks,
  oneOf,
  port,
  rate,
  recipients,
  seconds,
  sender,
  type TimeOfDay,
  timeOfDay,
  url,
  wholeNumber,
  witnesses,
} from './config/values.ts'
import { inputWords } from './domain/input-words.ts'
import type { ProviderWithApi } from './domain/integrations/provider.ts'
import { storeSchemes } from './ledger/connection/schemes.ts'
import type { Rates } from './limits/limits.ts'
import type { VerifierKey } from './transparency/note/verifier.ts'

/** More processes than any machine needs; each has its own connections to the stores. */
export const maxWorkers = 64

/**
 * Every variable that keyledger reads. Each has a row in docs/reference/configuration.md, and a check whose
 * message says what is allowed (see config/values.ts); tests check both.
 */
const Environment = z.object({
  KEYLEDGER_PORT: port.default(8080),
  KEYLEDGER_HOST: z.string().min(1).default('localhost'),
  KEYLEDGER_WORKERS: wholeNumber(1, maxWorkers).optional(),
  KEYLEDGER_BASE_URL: url('http', 'https').optional(),
  KEYLEDGER_DATA_DIR: z.string().min(1).default('.keyledger'),
  KEYLEDGER_DATABASE_URL: url('postgres', 'postgresql').optional(),
  KEYLEDGER_MIGRATION_DATABASE_URL: url('postgres', 'postgresql').optional(),
  KEYLEDGER_EVENTSTORE_URL: url(...storeSchemes).optional(),
  KEYLEDGER_NATS_URL: url('nats', 'tls').optional(),
  KEYLEDGER_COPY_TO: z.string().min(1).optional(),
  KEYLEDGER_COPY_DATABASE_TO: z.string().min(1).optional(),
  KEYLEDGER_IMPORT_API_KEY: z.string().min(1).optional(),
  KEYLEDGER_MASTER_KEY: z.string().min(1).optional(),
  KEYLEDGER_WEBHOOK_ALLOW_PRIVATE: oneOf('true', 'false').default('false'),
  KEYLEDGER_SMTP_URL: url('smtp', 'smtps')
    .refine((value) => URL.canParse(value), 'must be a full URL, such as smtp://mail.example.com:587')
    .optional(),
  KEYLEDGER_MAIL_FROM: sender.optional(),
  KEYLEDGER_STRIPE_SECRET_KEY: z
    .string()
    .regex(/^(sk|rk)_\S+$/, 'must begin with sk_ or rk_')
    .optional(),
  KEYLEDGER_STRIPE_WEBHOOK_SECRET: z.string().startsWith('whsec_', 'must begin with whsec_').optional(),
  // The SDK accepts a host and a port, but no path.
  KEYLEDGER_STRIPE_API_URL: api
    .refine((value) => !URL.canParse(value) || new URL(value).pathname === '/', 'must have no path')
    .default('https://api.stripe.com'),
  KEYLEDGER_PLATFORM_FEE_BASIS_POINTS: wholeNumber(0, 10_000).default(50),
  KEYLEDGER_LEMONSQUEEZY_API_URL: api.default('https://api.lemonsqueezy.com'),
  KEYLEDGER_PADDLE_API_URL: api.default('https://api.paddle.com'),
  KEYLEDGER_POLAR_API_URL: api.default('https://api.polar.sh'),
  KEYLEDGER_LIMIT_MANAGEMENT: rate.default({ perMinute: 600, burst: 1200 }),
  KEYLEDGER_LIMIT_RUNTIME: rate.default({ perMinute: 6000, burst: 6000 }),
  KEYLEDGER_LIMIT_CLIENT_VALIDATE: rate.default({ perMinute: 120, burst: 240 }),
  KEYLEDGER_LIMIT_CLIENT_ACTIVATE: rate.default({ perMinute: 5, burst: 10 }),
  KEYLEDGER_LIMIT_CLIENT_DEACTIVATE: rate.default({ perMinute: 5, burst: 10 }),
  KEYLEDGER_LIMIT_CLIENT_FREE_TIER: rate.default({ perMinute: 10, burst: 20 }),
  KEYLEDGER_LIMIT_CLIENT_KEYLESS: rate.default({ perMinute: 10, burst: 20 }),
  KEYLEDGER_LIMIT_CLIENT_CONFIG: rate.default({ perMinute: 60, burst: 120 }),
  KEYLEDGER_LIMIT_CLIENT_TENANT: rate.default({ perMinute: 12_000, burst: 12_000 }),
  KEYLEDGER_LIMIT_CLIENT_INSTANCE: rate.default({ perMinute: 30, burst: 30 }),
  KEYLEDGER_LIMIT_CHECKOUT: rate.default({ perMinute: 20, burst: 20 }),
  KEYLEDGER_LIMIT_EVIDENCE: rate.default({ perMinute: 12, burst: 30 }),
  KEYLEDGER_LIMIT_DOCUMENTS: rate.default({ perMinute: 60, burst: 120 }),
  /** Per hour, unlike the others. */
  KEYLEDGER_LIMIT_CLIENT_NEW_INSTANCES: rate.default({ perMinute: 1000, burst: 1000 }),
  KEYLEDGER_TRUST_PROXY: networks.optional(),
  KEYLEDGER_COUNTRY_DATABASE: z.string().min(1).optional(),
  KEYLEDGER_NOTARY_KEEP: z.string().min(1).optional(),
  KEYLEDGER_NOTARY_ORIGIN: logOrigin.optional(),
  KEYLEDGER_NOTARY_WITNESSES: witnesses.optional(),
  KEYLEDGER_HEADERS_TIMEOUT: seconds.default(defaultBounds.headersMs / 1000),
  KEYLEDGER_REQUEST_TIMEOUT: seconds.default(defaultBounds.requestMs / 1000),
  KEYLEDGER_STALL_TIMEOUT: seconds.default(defaultBounds.stallMs / 1000),
  KEYLEDGER_IDLE_TIMEOUT: seconds.default(defaultBounds.idleMs / 1000),
  KEYLEDGER_MAX_CONNECTIONS: wholeNumber(1, 1_000_000).default(defaultBounds.most),
  KEYLEDGER_METRICS_TOKEN: z
    .string()
    .regex(
      /^[\x21-\x7e]{16,200}$/,
      'must be 16 to 200 visible ASCII characters, for example from openssl rand -hex 32',
    )
    .optional(),
  KEYLEDGER_AUDIT_VERIFY_AT: timeOfDay.optional(),
  KEYLEDGER_BACKUP_DIR: z.string().min(1).optional(),
  KEYLEDGER_BACKUP_INTERVAL_HOURS: decimal(1, 8760, 'hours').default(24),
  KEYLEDGER_BACKUP_KEEP: wholeNumber(1, 10_000).default(7),
  KEYLEDGER_BACKUP_RECIPIENTS: recipients.optional(),
  // Read by commands that call a server, see src/cli/remote/profiles.ts. One shell may have them beside the others.
  KEYLEDGER_SERVER: z.string().min(1).optional(),
  KEYLEDGER_TOKEN: z.string().min(1).optional(),
  KEYLEDGER_PROFILE: z.string().min(1).optional(),
  KEYLEDGER_LOG_LEVEL: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent').default('info'),
})

/** The names of all variables. */
export const variables: readonly string[] = Object.keys(Environment.shape)

/** The variables that an environment sets, with their values. An empty one counts as absent. */
export const setIn = (
  environment: Readonly<Record<string, string | undefined>>,
): (readonly [name: string, value: string])[] =>
  variables.flatMap((name) => {
    const value = environment[name] ?? ''
    return value === '' ? [] : [[name, value] as const]
  })

/** The variables that set rate limits. */
export const limitVariables = variables.filter((name) => name.startsWith('KEYLEDGER_LIMIT_'))

export type Config = {
  port: number
  host: string
  /** How many processes serve HTTP. Undefined: one for two cores, up to a maximum. */
  workers: number | undefined
  /** Undefined: derived from host and port. */
  baseUrl: string | undefined
  dataDirectory: string
  /** Undefined: the embedded Postgres. */
  databaseUrl: string | undefined
  /** The same database, with a role that owns the durable schemas. Undefined: `databaseUrl`. */
  migrationUrl: string | undefined
  eventstoreUrl: string | undefined
  natsUrl: string | undefined
  /** The target of `keyledger copy` when its arguments name none. */
  copyTo: string | undefined
  /** The key of the API that `keyledger import --api` reads, when its arguments name no file. */
  importApiKey: string | undefined
  copyDatabaseTo: string | undefined
  masterKey: string | undefined
  /** For development: webhooks may use any address, also without https. */
  webhookAllowPrivate: boolean
  mail: {
    /** Undefined: mails are written to the data directory. */
    smtpUrl: string | undefined
    /** The sender when a product has none. */
    from: { name: string | null; email: string }
  }
  payments: {
    /** Undefined: no Stripe accounts can be connected. */
    stripeSecretKey: string | undefined
    stripeWebhookSecret: string | undefined
    /** The platform's share of each sale, in hundredths of a percent. */
    platformFeeBasisPoints: number
    apiUrls: Readonly<Record<ProviderWithApi, string>>
  }
  limits: Rates
  /** In whose name the first log of checkpoints is signed. Undefined: the base URL without its scheme. */
  notaryOrigin: string | undefined
  /** The directory where the last checkpoint is kept besides the database. Undefined: nowhere. */
  notaryKeep: string | undefined
  /** Who cosigns the checkpoints. */
  notaryWitnesses: readonly { url: string; key: VerifierKey }[]
  /** Proxies that are trusted to report a caller's address; undefined: none, the socket's address is used. */
  trustProxy: string[] | undefined
  /** A file that says in which country an address is; undefined: countries are not known. */
  countryDatabase: string | undefined
  connections: ConnectionBounds
  /** The token for reading the metrics; undefined: the metrics cannot be read. */
  metricsToken: string | undefined
  /** When the log is compared with what was signed, each day; undefined: never. */
  auditAt: TimeOfDay | undefined
  /** Undefined: no scheduled backups. */
  backups: (Schedule & { recipients: readonly string[] }) | undefined
  logLevel: z.infer<typeof Environment>['KEYLEDGER_LOG_LEVEL']
  /** Undefined: tracing is off. */
  tracing: TracingSettings | undefined
}

/** The environment is invalid; the message names each variable, its value and what is allowed. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConfigError'
  }
}

const invalidConfig = (problems: readonly string[]) =>
  new ConfigError(['The configuration is not valid.', ...problems].join('\n  '))

/**
 * Parses the environment, once. An empty variable counts as absent. An unknown variable that starts with
 * `KEYLEDGER_` is an error, because otherwise the intended setting would silently keep its default.
 * @throws ConfigError
 */
export function parseConfig(environment: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const parsed = Environment.safeParse(given, { error: inputWords })
  const unknown = unknownVariables(given, variables).map(({ name, nearest }) =>
    nearest === undefined
      ? `${name}: is not a keyledger variable; remove it, or see docs/reference/configuration.md`
      : `${name}: is not a keyledger variable; did you mean ${nearest}?`,
  )
  const tracing = parseTracing(given)
  const problems = [parsed, tracing].flatMap(({ error }) => (error ? invalidValues(given, error) : []))
  if (!parsed.success || !tracing.success || unknown.length > 0)
    throw invalidConfig([...problems, ...unknown])
  const { data } = parsed
  return {
    port: data.KEYLEDGER_PORT,
    host: data.KEYLEDGER_HOST,
    workers: data.KEYLEDGER_WORKERS,
    baseUrl: data.KEYLEDGER_BASE_URL?.replace(/\/+$/, ''),
    dataDirectory: resolve(data.KEYLEDGER_DATA_DIR),
    databaseUrl: data.KEYLEDGER_DATABASE_URL,
    migrationUrl: migrationUrlIn(data),
    eventstoreUrl: data.KEYLEDGER_EVENTSTORE_URL,
    natsUrl: data.KEYLEDGER_NATS_URL,
    copyTo: data.KEYLEDGER_COPY_TO,
    importApiKey: data.KEYLEDGER_IMPORT_API_KEY,
    copyDatabaseTo: data.KEYLEDGER_COPY_DATABASE_TO,
    masterKey: data.KEYLEDGER_MASTER_KEY,
    webhookAllowPrivate: data.KEYLEDGER_WEBHOOK_ALLOW_PRIVATE === 'true',
    mail: mailIn(data),
    payments: {
      stripeSecretKey: data.KEYLEDGER_STRIPE_SECRET_KEY,
      stripeWebhookSecret: data.KEYLEDGER_STRIPE_WEBHOOK_SECRET,
      platformFeeBasisPoints: data.KEYLEDGER_PLATFORM_FEE_BASIS_POINTS,
      apiUrls: {
        stripe: data.KEYLEDGER_STRIPE_API_URL,
        lemonsqueezy: data.KEYLEDGER_LEMONSQUEEZY_API_URL,
        paddle: data.KEYLEDGER_PADDLE_API_URL,
        polar: data.KEYLEDGER_POLAR_API_URL,
      },
    },
    limits: limitsIn(data),
    notaryKeep: pathIn(data.KEYLEDGER_NOTARY_KEEP),
    notaryOrigin: data.KEYLEDGER_NOTARY_ORIGIN,
    notaryWitnesses: data.KEYLEDGER_NOTARY_WITNESSES ?? [],
    trustProxy: data.KEYLEDGER_TRUST_PROXY,
    countryDatabase: pathIn(data.KEYLEDGER_COUNTRY_DATABASE),
    connections: connectionsIn(data),
    metricsToken: data.KEYLEDGER_METRICS_TOKEN,
    auditAt: data.KEYLEDGER_AUDIT_VERIFY_AT,
    backups: backupsIn(data),
    logLevel: data.KEYLEDGER_LOG_LEVEL,
    tracing: tracing.data,
  }
}

const pathIn = (path: string | undefined): string | undefined => path && resolve(path)

/** Describes each invalid variable in a line: its value, as far as it may be shown, and what is allowed. */
function invalidValues(given: Record<string, string | undefined>, error: z.ZodError): string[] {
  const messages = new Map<string, string>()
  for (const { path, message } of error.issues) {
    const name = path.join('.')
    if (!messages.has(name)) messages.set(name, message)
  }
  return [...messages].map(([name, message]) => {
    const value = given[name] ?? ''
    const hint = /^(?:tcp|udp|sctp):\/\//.test(value)
      ? '. Kubernetes sets this variable for a service of that name; set enableServiceLinks: false in the pod'
      : ''
    return `${name}: ${message}; it is ${shownValue(name, value)}${hint}`
  })
}

/** The embedded Postgres has its own role for migrations. */
function migrationUrlIn(data: z.infer<typeof Environment>): string | undefined {
  const { KEYLEDGER_DATABASE_URL: databaseUrl, KEYLEDGER_MIGRATION_DATABASE_URL: migrationUrl } = data
  if (migrationUrl === undefined || databaseUrl !== undefined) return migrationUrl
  throw invalidConfig([
    'KEYLEDGER_MIGRATION_DATABASE_URL: needs KEYLEDGER_DATABASE_URL; set it to the same database with the role for normal operation',
  ])
}

/** Mail servers reject senders that they do not know, so the sender must be set. */
function mailIn(data: z.infer<typeof Environment>): Config['mail'] {
  const { KEYLEDGER_SMTP_URL: smtpUrl, KEYLEDGER_MAIL_FROM: from } = data
  if (smtpUrl !== undefined && from === undefined) {
    throw invalidConfig([
      'KEYLEDGER_MAIL_FROM: must be set if KEYLEDGER_SMTP_URL is set; set it to the sender address of mails',
    ])
  }
  return { smtpUrl, from: from ?? { name: null, email: 'no-reply@localhost.invalid' } }
}

function backupsIn(data: z.infer<typeof Environment>): Config['backups'] {
  const { KEYLEDGER_BACKUP_DIR: directory } = data
  if (directory === undefined) return undefined
  return {
    directory: resolve(directory),
    intervalMs: data.KEYLEDGER_BACKUP_INTERVAL_HOURS * 3_600_000,
    keep: data.KEYLEDGER_BACKUP_KEEP,
    recipients: data.KEYLEDGER_BACKUP_RECIPIENTS ?? [],
  }
}

function connectionsIn(data: z.infer<typeof Environment>): ConnectionBounds {
  const bounds = {
    headersMs: data.KEYLEDGER_HEADERS_TIMEOUT * 1000,
    requestMs: data.KEYLEDGER_REQUEST_TIMEOUT * 1000,
    stallMs: data.KEYLEDGER_STALL_TIMEOUT * 1000,
    idleMs: data.KEYLEDGER_IDLE_TIMEOUT * 1000,
    most: data.KEYLEDGER_MAX_CONNECTIONS,
  }
  if (bounds.headersMs > bounds.requestMs) {
    throw invalidConfig([
      'KEYLEDGER_HEADERS_TIMEOUT: must not be longer than KEYLEDGER_REQUEST_TIMEOUT, which includes it',
    ])
  }
  return bounds
}

function limitsIn(data: z.infer<typeof Environment>): Rates {
  const newInstances = data.KEYLEDGER_LIMIT_CLIENT_NEW_INSTANCES
  return {
    management: data.KEYLEDGER_LIMIT_MANAGEMENT ?? undefined,
    runtime: data.KEYLEDGER_LIMIT_RUNTIME ?? undefined,
    clientValidate: data.KEYLEDGER_LIMIT_CLIENT_VALIDATE ?? undefined,
    clientActivate: data.KEYLEDGER_LIMIT_CLIENT_ACTIVATE ?? undefined,
    clientDeactivate: data.KEYLEDGER_LIMIT_CLIENT_DEACTIVATE ?? undefined,
    clientFreeTier: data.KEYLEDGER_LIMIT_CLIENT_FREE_TIER ?? undefined,
    clientKeyless: data.KEYLEDGER_LIMIT_CLIENT_KEYLESS ?? undefined,
    clientConfig: data.KEYLEDGER_LIMIT_CLIENT_CONFIG ?? undefined,
    clientTenant: data.KEYLEDGER_LIMIT_CLIENT_TENANT ?? undefined,
    clientInstance: data.KEYLEDGER_LIMIT_CLIENT_INSTANCE ?? undefined,
    checkout: data.KEYLEDGER_LIMIT_CHECKOUT ?? undefined,
    evidence: data.KEYLEDGER_LIMIT_EVIDENCE ?? undefined,
    documents: data.KEYLEDGER_LIMIT_DOCUMENTS ?? undefined,
    clientNewInstances: newInstances
      ? { perMinute: newInstances.perMinute / 60, burst: newInstances.burst }
      : undefined,
  }
}

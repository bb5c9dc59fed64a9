import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { z } from 'zod'
import type { Rates } from './limits/limits.ts'

const port = z.coerce.number().int().min(0).max(65_535)
const url = (...protocols: string[]) =>
  z
    .string()
    .refine(
      (value) => protocols.some((protocol) => value.startsWith(`${protocol}://`)),
      `must begin with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`,
    )

/** The address of an API, without a slash at its end. */
const api = url('http', 'https')
  .refine((value) => URL.canParse(value), 'must be an address')
  .transform((value) => value.replace(/\/+$/, ''))
/** `600/1200`: steady and burst, a minute; one number is both; `off` is no limit. */
const rate = z
  .string()
  .regex(
    /^(?:off|[1-9]\d{0,8}(?:\/[1-9]\d{0,8})?)$/,
    'must be <steady>/<burst> a minute, as 600/1200, or off',
  )
  .transform((text) => {
    // Not undefined, which would be taken for the default.
    if (text === 'off') return null
    const [perMinute = 0, burst = perMinute] = text.split('/').map(Number)
    return { perMinute, burst }
  })

/** `10.0.0.1`, `10.0.0.0/8`, or one of the names for ranges that are never on the internet. */
function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0) return ['loopback', 'linklocal', 'uniquelocal'].includes(text)
  const longest = version === 4 ? 32 : 128
  return (
    rest.length === 0 &&
    (prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= longest))
  )
}

const networks = z
  .string()
  .transform((text) => text.split(',').map((network) => network.trim()))
  .refine((list) => list.every(isNetwork), 'must be addresses or networks, separated by commas')

/** `licenses@example.com`, or `Example Ltd <licenses@example.com>`. */
const sender = z
  .string()
  .transform((value) => /^(?:([^<>"\p{Cc}]*?)\s*<([^<>]+)>|([^<>]+))$/u.exec(value.trim()))
  .transform((found) => ({ name: found?.[1]?.trim() || null, email: found?.[2] ?? found?.[3] ?? '' }))
  .pipe(z.object({ name: z.string().nullable(), email: z.email('must be an address, or Name <address>') }))

/** Every variable that keyledger reads. Each is described in docs/reference/configuration.md. */
const Environment = z.object({
  KEYLEDGER_PORT: port.default(8080),
  KEYLEDGER_HOST: z.string().min(1).default('localhost'),
  KEYLEDGER_BASE_URL: url('http', 'https').optional(),
  KEYLEDGER_DATA_DIR: z.string().min(1).default('.keyledger'),
  KEYLEDGER_DATABASE_URL: url('postgres', 'postgresql').optional(),
  KEYLEDGER_EVENTSTORE_URL: url('esdb', 'esdb+discover').optional(),
  KEYLEDGER_NATS_URL: url('nats', 'tls').optional(),
  KEYLEDGER_MASTER_KEY: z.string().min(1).optional(),
  KEYLEDGER_WEBHOOK_ALLOW_PRIVATE: z.enum(['true', 'false']).default('false'),
  KEYLEDGER_SMTP_URL: url('smtp', 'smtps')
    .refine((value) => URL.canParse(value), 'must be an address')
    .optional(),
  KEYLEDGER_MAIL_FROM: sender.optional(),
  KEYLEDGER_STRIPE_SECRET_KEY: z
    .string()
    .regex(/^(sk|rk)_\S+$/, 'must begin with sk_ or rk_')
    .optional(),
  KEYLEDGER_STRIPE_WEBHOOK_SECRET: z.string().startsWith('whsec_', 'must begin with whsec_').optional(),
  // The SDK takes a host and a port, and no path.
  KEYLEDGER_STRIPE_API_URL: api
    .refine((value) => !URL.canParse(value) || new URL(value).pathname === '/', 'must have no path')
    .default('https://api.stripe.com'),
  KEYLEDGER_PLATFORM_FEE_BASIS_POINTS: z.coerce.number().int().min(0).max(10_000).default(50),
  KEYLEDGER_LEMONSQUEEZY_API_URL: api.default('https://api.lemonsqueezy.com'),
  KEYLEDGER_PADDLE_API_URL: api.optional(),
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
  /** An hour, unlike the others. */
  KEYLEDGER_LIMIT_CLIENT_NEW_INSTANCES: rate.default({ perMinute: 1000, burst: 1000 }),
  KEYLEDGER_TRUST_PROXY: networks.optional(),
  KEYLEDGER_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
})

/** The variables by which each limit is set. */
export const limitVariables = Object.keys(Environment.shape).filter((name) =>
  name.startsWith('KEYLEDGER_LIMIT_'),
)

export type Config = {
  port: number
  host: string
  /** Undefined: made from host and port. */
  baseUrl: string | undefined
  dataDirectory: string
  /** Undefined: the embedded part. */
  databaseUrl: string | undefined
  eventstoreUrl: string | undefined
  natsUrl: string | undefined
  masterKey: string | undefined
  /** For development: webhooks may go to any address, also without https. */
  webhookAllowPrivate: boolean
  mail: {
    /** Undefined: mails are kept in the data directory. */
    smtpUrl: string | undefined
    /** Who mails come from where a product names nobody. */
    from: { name: string | null; email: string }
  }
  payments: {
    /** Undefined: no account can be connected to the card provider. */
    stripeSecretKey: string | undefined
    stripeWebhookSecret: string | undefined
    stripeApiUrl: string
    /** What of each sale goes to the platform, in hundredths of a percent. */
    platformFeeBasisPoints: number
    lemonsqueezyApiUrl: string
    /** Undefined: paddle's own. */
    paddleApiUrl: string | undefined
    polarApiUrl: string
  }
  limits: Rates
  /** Proxies whose word on a caller's address is taken; undefined: nobody's, it is the socket's. */
  trustProxy: string[] | undefined
  logLevel: z.infer<typeof Environment>['KEYLEDGER_LOG_LEVEL']
}

/** The environment does not make sense; the message names each variable and what it must be, never its value. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConfigError'
  }
}

/**
 * Parses the environment, once. An empty variable counts as absent.
 * @throws ConfigError
 */
export function parseConfig(environment: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const parsed = Environment.safeParse(given)
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
    throw new ConfigError(`The configuration is not usable.\n  ${problems.join('\n  ')}`)
  }
  const { data } = parsed
  return {
    port: data.KEYLEDGER_PORT,
    host: data.KEYLEDGER_HOST,
    baseUrl: data.KEYLEDGER_BASE_URL?.replace(/\/+$/, ''),
    dataDirectory: resolve(data.KEYLEDGER_DATA_DIR),
    databaseUrl: data.KEYLEDGER_DATABASE_URL,
    eventstoreUrl: data.KEYLEDGER_EVENTSTORE_URL,
    natsUrl: data.KEYLEDGER_NATS_URL,
    masterKey: data.KEYLEDGER_MASTER_KEY,
    webhookAllowPrivate: data.KEYLEDGER_WEBHOOK_ALLOW_PRIVATE === 'true',
    mail: mailIn(data),
    payments: {
      stripeSecretKey: data.KEYLEDGER_STRIPE_SECRET_KEY,
      stripeWebhookSecret: data.KEYLEDGER_STRIPE_WEBHOOK_SECRET,
      stripeApiUrl: data.KEYLEDGER_STRIPE_API_URL,
      platformFeeBasisPoints: data.KEYLEDGER_PLATFORM_FEE_BASIS_POINTS,
      lemonsqueezyApiUrl: data.KEYLEDGER_LEMONSQUEEZY_API_URL,
      paddleApiUrl: data.KEYLEDGER_PADDLE_API_URL,
      polarApiUrl: data.KEYLEDGER_POLAR_API_URL,
    },
    limits: limitsIn(data),
    trustProxy: data.KEYLEDGER_TRUST_PROXY,
    logLevel: data.KEYLEDGER_LOG_LEVEL,
  }
}

/** Nobody takes mail from an address that is not theirs, so the one to send from has to be said. */
function mailIn(data: z.infer<typeof Environment>): Config['mail'] {
  const { KEYLEDGER_SMTP_URL: smtpUrl, KEYLEDGER_MAIL_FROM: from } = data
  if (smtpUrl !== undefined && from === undefined) {
    throw new ConfigError(
      'The configuration is not usable.\n  KEYLEDGER_MAIL_FROM: must be given with KEYLEDGER_SMTP_URL: the address that mails come from',
    )
  }
  return { smtpUrl, from: from ?? { name: null, email: 'no-reply@localhost.invalid' } }
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
    clientNewInstances: newInstances
      ? { perMinute: newInstances.perMinute / 60, burst: newInstances.burst }
      : undefined,
  }
}

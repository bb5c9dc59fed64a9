import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { z } from 'zod'

const port = z.coerce.number().int().min(0).max(65_535)
const url = (...protocols: string[]) =>
  z
    .string()
    .refine(
      (value) => protocols.some((protocol) => value.startsWith(`${protocol}://`)),
      `must begin with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`,
    )

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
  KEYLEDGER_LIMIT_MANAGEMENT: rate.default({ perMinute: 600, burst: 1200 }),
  KEYLEDGER_LIMIT_RUNTIME: rate.default({ perMinute: 6000, burst: 6000 }),
  KEYLEDGER_TRUST_PROXY: networks.optional(),
  KEYLEDGER_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
})

type Rate = { perMinute: number; burst: number }

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
  /** Undefined: no limit. */
  limits: { management: Rate | undefined; runtime: Rate | undefined }
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
    limits: {
      management: data.KEYLEDGER_LIMIT_MANAGEMENT ?? undefined,
      runtime: data.KEYLEDGER_LIMIT_RUNTIME ?? undefined,
    },
    trustProxy: data.KEYLEDGER_TRUST_PROXY,
    logLevel: data.KEYLEDGER_LOG_LEVEL,
  }
}

import { createRequire } from 'node:module'
import { destination, type Logger, pino, stdSerializers } from 'pino'
import type { Config } from '../config.ts'

const require = createRequire(import.meta.url)

/** Fields that may carry a credential or a key; they are redacted. */
const secret = [
  'token',
  'licenseKey',
  'license_key',
  'authorization',
  'password',
  'secret',
  'headers.authorization',
  '*.token',
  '*.licenseKey',
  '*.license_key',
  '*.authorization',
  '*.headers.authorization',
]

/** The detail of a database error can quote the row, so only its type, message and code are logged. */
function errorLine(error: Error & { code?: string }) {
  const { type, message, stack } = stdSerializers.err(error)
  return { type, message, code: error.code, stack }
}

/**
 * Logs JSON, or readable lines at a terminal, always to stderr: stdout is for data.
 * @param buffered for long-running processes: lines may appear half a second late, and cost far less
 * @param worker the process id of a worker, added to each of its lines
 */
export function createLog(
  level: Config['logLevel'],
  { buffered = false, worker }: { buffered?: boolean; worker?: number } = {},
): Logger {
  const options = {
    level,
    base: { name: 'keyledger', ...(worker !== undefined && { worker }) },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    serializers: { err: errorLine },
    redact: { paths: secret, censor: '[redacted]' },
  }
  if (process.stderr.isTTY) {
    const pretty = require('pino-pretty') as typeof import('pino-pretty')
    return pino(
      options,
      pretty({ destination: 2, sync: true, ignore: 'pid,hostname,name', translateTime: 'HH:MM:ss' }),
    )
  }
  // Writes of several processes do not interleave up to 4096 bytes, the system's PIPE_BUF.
  const buffer = { sync: false, minLength: worker === undefined ? 4096 : 1024, periodicFlush: 500 }
  return pino(options, destination({ dest: 2, ...(buffered && buffer) }))
}

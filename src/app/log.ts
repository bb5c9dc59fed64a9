import { destination, type Logger, pino, stdSerializers } from 'pino'
import pretty from 'pino-pretty'
import type { Config } from '../config.ts'

/** Whatever carries a credential or a key, should it ever get into a line. */
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

/** A database error's detail can quote the row, so only its kind is logged. */
function errorLine(error: Error & { code?: string }) {
  const { type, message, stack } = stdSerializers.err(error)
  return { type, message, code: error.code, stack }
}

/**
 * JSON, or readable lines at a terminal. All on stderr: data alone is on stdout.
 * @param buffered for a process that lives long: lines may come half a second late, and cost a good deal less
 * @param worker the process id of one of several that serve together, which then stands in each line
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
    return pino(
      options,
      pretty({ destination: 2, sync: true, ignore: 'pid,hostname,name', translateTime: 'HH:MM:ss' }),
    )
  }
  // What several processes write at the same moment stays apart line by line up to 4096 bytes, the system's PIPE_BUF.
  const buffer = { sync: false, minLength: worker === undefined ? 4096 : 1024, periodicFlush: 500 }
  return pino(options, destination({ dest: 2, ...(buffered && buffer) }))
}

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ConfigError } from '../../config.ts'
import { download, isComplete } from '../../import/api/download.ts'
import type { Source } from '../../import/sources/source.ts'
import { wholeNumberIn } from '../../numbers.ts'
import { printToStderr } from '../../terminal/output.ts'

export type FetchOptions = {
  apiKeyFile?: string
  apiUrl?: string
  account?: string
  licenseEntitlements?: boolean
  refetch?: boolean
}

type FetchTarget = { dataDirectory: string; importApiKey: string | undefined; tenantId: string }

/**
 * Downloads what an API lists, for the import to read. A download that was interrupted continues, and a complete one is
 * used again, so the import itself asks the API nothing.
 * @returns the directory; `remove` deletes it, since it holds license keys
 * @throws ConfigError, ImportProblem, ImportUnavailable
 */
export async function fetchExport(
  source: Source,
  options: FetchOptions,
  { dataDirectory, importApiKey, tenantId }: FetchTarget,
): Promise<{ path: string; remove(): void }> {
  const lists = source.api
  if (!lists) throw new ConfigError(`${source.name} has no API. Name a file or a directory.`)
  const { account = '', licenseEntitlements = false } = options
  if (lists.needsAccount && account === '')
    throw new ConfigError('The account is missing. Add --account <id>.')
  const baseUrl = addressOf(options.apiUrl ?? lists.baseUrl)
  const name = [source.name, tenantId, baseUrl, account, licenseEntitlements].join(' ')
  const directory = join(dataDirectory, 'imports', `${source.name}-${hashOf(name)}`)
  const remove = () => rmSync(directory, { recursive: true, force: true })
  if (options.refetch) remove()
  if (isComplete(directory)) {
    printToStderr(`Using what was fetched before, in ${directory}. To fetch it again, add --refetch.`)
    return { path: directory, remove }
  }
  const apiKey = await apiKeyOf(options.apiKeyFile, importApiKey)
  const api = { name: source.name, baseUrl, apiKey, accept: lists.accept }
  const choice = { account, licenseEntitlements }
  await download({ api, lists, choice, directory, onPage: createPageProgress() })
  return { path: directory, remove }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)

/** A key is sent in clear to this machine only. */
function addressOf(address: string): string {
  const url = URL.parse(address)
  const isLocal = url?.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  if (url && (url.protocol === 'https:' || isLocal)) return url.origin
  throw new ConfigError(`--api-url ${address} is not valid. It must begin with https://.`)
}

async function apiKeyOf(file: string | undefined, fromEnvironment: string | undefined): Promise<string> {
  const read = file === undefined ? fromEnvironment : file === '-' ? await text(process.stdin) : textOf(file)
  const key = read?.split('\n')[0]?.trim() ?? ''
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw new ConfigError(
    'The API key is missing or not usable. Add --api-key-file <path>, - for stdin, or set KEYLEDGER_IMPORT_API_KEY.',
  )
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError(`Cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const everyMs = 5000

/** A line on stderr for each list, and from time to time for a long one, with the time left if its length is known. */
function createPageProgress() {
  let list = ''
  let began = 0
  let shown = 0
  return (name: string, page: number, pages: number | undefined) => {
    const now = performance.now()
    if (name !== list) {
      list = name
      began = now
      shown = now
      printToStderr(`Fetching ${name}`)
    } else if (now - shown > everyMs) {
      shown = now
      const left =
        pages === undefined || page < 2
          ? ''
          : `, ${Math.ceil((((now - began) / (page - 1)) * (pages - page)) / 1000)} s left`
      printToStderr(`Fetching ${name}: page ${page}${pages === undefined ? '' : ` of ${pages}`}${left}`)
    }
  }
}

const workName = /^work-(\d+)$/

/**
 * A directory for the license keys that an import works on, which only its owner can read. Those of imports that were
 * killed are deleted.
 */
export function openWorkDirectory(dataDirectory: string): { path: string; remove(): void } {
  const imports = join(dataDirectory, 'imports')
  mkdirSync(imports, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(imports)) {
    const pid = wholeNumberIn(workName.exec(name)?.[1] ?? '', 1, 2 ** 31)
    if (pid !== undefined && !isRunning(pid)) rmSync(join(imports, name), { recursive: true, force: true })
  }
  const path = join(imports, `work-${process.pid}`)
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** The process of another user is running too. */
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

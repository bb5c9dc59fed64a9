import { segment } from '../license-key.ts'
import { KeyledgerError } from './error.ts'
import { type DryRunId, operations } from './operations.ts'
import { type Fetch, type Sent, send, type Transport } from './send.ts'
import type {
  Answer,
  CallOptions,
  DryRun,
  GatedId,
  Input,
  Methods,
  OperationId,
  Pages,
  Pending,
} from './types.ts'

export type ServerClientOptions = {
  /** The address of the license server, `https://licenses.example.com`. */
  baseUrl: string
  /** An API token, `kl_pat_…`. */
  token: string
  /** Called when a person has to approve a call of `confirm`: show or send them the address. */
  onApproval?: (approval: Approval) => void
  /** How often a request is sent at most; 4 when absent. */
  attempts?: number
  timeoutMs?: number
  fetch?: Fetch
  sleep?: (ms: number) => Promise<void>
  random?: () => number
}

/** What a person is asked to approve. */
export type Approval = { operation: GatedId; id: string; approveUrl: string; expiresInSeconds: number }

export type ConfirmOptions = { onApproval?: (approval: Approval) => void; signal?: AbortSignal }

export type ServerClient = Methods & {
  /**
   * Runs a gated operation: asks for its approval, waits until a person has decided, and then runs it.
   * @throws KeyledgerError `confirmation_denied`, `confirmation_expired`
   */
  confirm<Id extends GatedId>(operation: Id, input: Input<Id>, options?: ConfirmOptions): Promise<Answer<Id>>
  /** What a call would change now, by the server's own decision. Nothing is changed, and nobody is asked. */
  dryRun<Id extends DryRunId>(operation: Id, input: Input<Id>, options?: DryRunOptions): Promise<DryRun>
}

type DryRunOptions = { signal?: AbortSignal }

type Sending = CallOptions & { dryRun?: true }
type Fields = Readonly<Record<string, unknown>>

/** The client of a vendor's server, with a method for each operation that a token may call. */
export function createServerClient(options: ServerClientOptions): ServerClient {
  const transport = transportOf(options)
  const call = (id: OperationId, input: Fields = {}, more: Sending = {}): Promise<Sent> =>
    send(transport, sendingOf(options, id, input, more))
  const bodyOf = async (id: OperationId, input?: Fields, more?: CallOptions) =>
    (await call(id, input, more)).body

  const methods: Record<string, unknown> = {}
  for (const [name, described] of Object.entries(operations)) {
    const id = name as OperationId
    methods[id] = described.endsWith(' paged')
      ? (input?: Fields, more?: CallOptions) => pagesOf((fields) => bodyOf(id, fields, more), input)
      : (input?: Fields, more?: CallOptions) => bodyOf(id, input, more)
  }
  const confirm = (operation: GatedId, input: Fields, more: ConfirmOptions = {}) =>
    confirmed(transport, call, operation, input, { onApproval: options.onApproval, ...more })
  const dryRun = async (operation: DryRunId, input: Fields, more: DryRunOptions = {}) =>
    (await call(operation, input, { ...more, dryRun: true })).body
  return { ...methods, confirm, dryRun } as unknown as ServerClient
}

function transportOf(options: ServerClientOptions): Transport {
  const {
    attempts = 4,
    timeoutMs = 30_000,
    random = Math.random,
    sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    fetch = (url, init) => globalThis.fetch(url, init),
  } = options
  return { attempts, timeoutMs, random, sleep, fetch }
}

function sendingOf({ baseUrl, token }: ServerClientOptions, id: OperationId, input: Fields, more: Sending) {
  const [method = '', template = '', flag] = operations[id].split(' ')
  const rest = { ...input }
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name]
    delete rest[name]
    if (value === undefined || value === '') throw new TypeError(`${id} needs ${name}`)
    return segment(name, String(value))
  })
  const hasBody = method !== 'GET' && method !== 'DELETE' && Object.keys(rest).length > 0
  const query = queryOf({ ...(!hasBody && rest), ...(more.dryRun && { dryRun: true }) })
  return {
    method,
    url: `${baseUrl.replace(/\/+$/, '')}${path}${query && `?${query}`}`,
    headers: {
      authorization: `Bearer ${token}`,
      ...(hasBody && { 'content-type': 'application/json' }),
      ...(flag === 'idempotent' && { 'idempotency-key': more.idempotencyKey ?? crypto.randomUUID() }),
      ...(more.confirmation !== undefined && { 'x-service-confirmation': more.confirmation }),
    },
    ...(hasBody && { body: JSON.stringify(rest) }),
    signal: more.signal,
    // A POST without a key could be done twice; a confirmed call that was done answers that it is used up.
    repeatable:
      more.confirmation === undefined &&
      (method !== 'POST' || flag === 'idempotent' || flag === 'safe' || more.dryRun === true),
  }
}

/** `metadata: { order: '1' }` becomes `metadata[order]=1`. */
function queryOf(fields: Fields): string {
  const pairs = Object.entries(fields).flatMap(([name, value]): [string, string][] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).map(([key, one]) => [`${name}[${key}]`, String(one)])
      : value === undefined
        ? []
        : [[name, String(value)]],
  )
  return new URLSearchParams(pairs).toString()
}

type Page = { items: unknown[]; nextCursor: string | null }

function pagesOf(read: (fields: Fields) => Promise<unknown>, input: Fields = {}): Pages<unknown> {
  const page = async (fields: Fields) => (await read(fields)) as Page
  return {
    page: () => page(input),
    async *[Symbol.asyncIterator]() {
      for (let fields = input; ; ) {
        const { items, nextCursor } = await page(fields)
        yield* items
        if (nextCursor === null) return
        fields = { ...input, cursor: nextCursor }
      }
    },
  }
}

const pendingIn = ({ status, body }: Sent): Pending['confirmation'] | undefined =>
  status === 202 ? (body as Partial<Pending>).confirmation : undefined

async function confirmed(
  transport: Transport,
  call: (id: OperationId, input?: Fields, more?: CallOptions) => Promise<Sent>,
  operation: GatedId,
  input: Fields,
  { onApproval, signal }: { onApproval: ConfirmOptions['onApproval']; signal?: AbortSignal },
): Promise<never> {
  const passed = signal ? { signal } : {}
  const approval = await call(operation, input, passed)
  const pending = pendingIn(approval)
  // Some operations are gated only for certain fields.
  if (!pending) return approval.body as never
  const { id, approveUrl, expiresInSeconds } = pending
  if (!onApproval) {
    const message = `a person has to approve this: ${approveUrl}; pass onApproval to be told`
    throw new KeyledgerError(message, { status: 202, code: 'confirmation_needed' })
  }
  onApproval({ operation, id, approveUrl, expiresInSeconds })
  for (;;) {
    const polled = await call('getConfirmation', { id }, passed)
    const { status } = polled.body as { status: string }
    if (status === 'approved') break
    if (status !== 'pending') {
      const message = status === 'denied' ? 'the confirmation was denied' : 'the confirmation has expired'
      throw new KeyledgerError(message, { status: 403, code: `confirmation_${status}` })
    }
    await transport.sleep(polled.retryAfterMs ?? 2000)
  }
  return (await call(operation, input, { confirmation: id, ...passed })).body as never
}

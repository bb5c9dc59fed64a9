import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** What happens to one request and its answer on the way. */
export type Fault =
  | { kind: 'none' }
  /** The connection ends before the server has the request. */
  | { kind: 'refused' }
  /** The server does its work, and its answer is lost. */
  | { kind: 'lost' }
  /** The answer arrives so much later. */
  | { kind: 'late'; ms: number }
  /** The request arrives twice, and the second answer is handed on. */
  | { kind: 'doubled' }
  | { kind: 'truncated'; at: number }
  /** One bit is another. */
  | { kind: 'flipped'; at: number; bit: number }
  /** The first bit of each signature is another. */
  | { kind: 'forged' }
  /** Something else answers, with a page. */
  | { kind: 'page'; status: number }
  /** Too busy, with a pause to keep. */
  | { kind: 'busy'; status: number; retryAfter: string }
  /** An answer that the same path has given before. */
  | { kind: 'stale'; back: number }

type Answer = { status: number; type: string; body: Buffer }

export type BadNetwork = {
  url: string
  /** What happens to the next requests; after these, nothing. */
  faults: Fault[]
  /** Answers as the server has given them, with their paths. */
  given: { path: string; answer: Answer }[]
  /** Called with an answer of the server before it is handed on. */
  onGiven: (path: string, answer: Answer) => Promise<void>
  /** The numbers of requests whose answer is held back: time has to pass. */
  held: Set<string>
  close(): Promise<void>
}

/** A proxy that delays, drops, doubles and breaks answers. @param wait waits by the clock of the test */
export async function startBadNetwork(
  server: string,
  wait: (ms: number) => Promise<void>,
): Promise<BadNetwork> {
  const forward = async (request: IncomingMessage, body: Buffer): Promise<Answer> => {
    const { 'x-service-sdk-key': key, 'content-type': type } = request.headers
    const headers = {
      ...(key && { 'x-service-sdk-key': String(key) }),
      ...(type && { 'content-type': type }),
    }
    const sent = body.length > 0 ? { body: new Uint8Array(body) } : {}
    const response = await fetch(server + request.url, { method: request.method ?? 'GET', headers, ...sent })
    const text = Buffer.from(await response.arrayBuffer())
    const answer = { status: response.status, type: response.headers.get('content-type') ?? '', body: text }
    network.given.push({ path: request.url ?? '', answer })
    await network.onGiven(request.url ?? '', answer)
    return answer
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const fault = network.faults.shift() ?? { kind: 'none' }
    const body = await buffer(request)
    const path = request.url ?? ''
    const reply = ({ status, type, body }: Answer, headers = {}) => {
      if (response.destroyed) return
      response.writeHead(status, { 'content-type': type, ...headers })
      response.end(body)
    }
    if (fault.kind === 'refused') return void response.destroy()
    if (fault.kind === 'page')
      return reply({ status: fault.status, type: 'text/html', body: Buffer.from('<h1>Hello') })
    if (fault.kind === 'busy') {
      const busy = Buffer.from('{"error":"busy"}')
      return reply(
        { status: fault.status, type: 'application/json', body: busy },
        { 'retry-after': fault.retryAfter },
      )
    }
    if (fault.kind === 'stale') {
      const before = network.given.filter((one) => one.path === path)
      const found = before.at(-1 - (fault.back % Math.max(1, before.length)))
      if (found) return reply(found.answer)
    }
    if (fault.kind === 'doubled') await forward(request, body)
    const answer = await forward(request, body)
    if (fault.kind === 'lost') return void response.destroy()
    if (fault.kind === 'late') {
      const number = String(request.headers['x-number'])
      network.held.add(number)
      await wait(fault.ms)
      network.held.delete(number)
    }
    reply({ ...answer, body: broken(answer.body, fault) })
  }

  const listener = createServer(
    (request, response) => void respond(request, response).catch(() => response.destroy()),
  )
  const network: BadNetwork = {
    url: '',
    faults: [],
    given: [],
    onGiven: async () => undefined,
    held: new Set(),
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve())
        listener.closeAllConnections()
      }),
  }
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  network.url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  return network
}

function broken(body: Buffer, fault: Fault): Buffer {
  if (fault.kind === 'forged') return forged(body)
  if (fault.kind === 'truncated') return body.subarray(0, Math.floor(body.length * fault.at))
  if (fault.kind !== 'flipped' || body.length === 0) return body
  const flipped = Buffer.from(body)
  const at = Math.floor(fault.at * (flipped.length - 1))
  flipped[at] = (flipped[at] ?? 0) ^ (1 << fault.bit)
  return flipped
}

/** In tokens the signature is the end of the payload, which the footer follows. */
const forged = (body: Buffer): Buffer =>
  Buffer.from(
    body
      .toString()
      .replace(/"signature":"(.)/g, (_, first: string) => `"signature":"${first === 'A' ? 'B' : 'A'}`)
      .replace(
        /(v4\.public\.[\w-]+)([\w-])([\w-]{6})/g,
        (_, head: string, one: string, tail: string) => `${head}${one === 'A' ? 'B' : 'A'}${tail}`,
      ),
  )

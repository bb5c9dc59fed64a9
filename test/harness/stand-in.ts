import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'

/** A request to a stand-in. */
export type Asked = {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  /** The bearer token; undefined without one. */
  key: string | undefined
  /** As it was sent: stripe's SDK sends a form. */
  body: string
}

export type Answered = { status: number; body: unknown; headers?: Record<string, string> }

export type StandIn = {
  url: string
  asked: Asked[]
  /**
   * `well`: answers. `silent`: takes the request and never answers. `cut`: ends the connection. A status: answers
   * with it and a page that is no JSON, as a proxy in between does. `garbled`: a success that makes no sense.
   */
  health: 'well' | 'silent' | 'cut' | 'garbled' | number
  /** How long it takes to answer. */
  delayMs: number
  close(): Promise<void>
}

/** A provider on this machine: it speaks HTTP, and remembers what it was asked. */
export async function startStandIn(answer: (asked: Asked) => Answered): Promise<StandIn> {
  const asked: Asked[] = []
  const standIn: StandIn = {
    url: '',
    asked,
    health: 'well',
    delayMs: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    const question: Asked = {
      method: request.method ?? '',
      path: pathname,
      query: searchParams,
      headers: request.headers,
      key: /^bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1],
      body: await text(request),
    }
    asked.push(question)
    const { health, delayMs } = standIn
    if (delayMs > 0) await setTimeout(delayMs)
    if (health === 'silent') return
    if (health === 'cut') {
      request.socket.destroy()
      return
    }
    if (typeof health === 'number') {
      response.writeHead(health, { 'content-type': 'text/html', 'retry-after': '17' }).end('<h1>Sorry</h1>')
      return
    }
    const {
      status,
      body,
      headers = {},
    } = health === 'garbled' ? { status: 200, body: { object: 'list' } } : answer(question)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }

  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error('the stand-in failed'))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  standIn.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return standIn
}

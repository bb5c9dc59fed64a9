// The process publishes its address when it is ready, ends cleanly, and explains why it cannot start.
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { NO_STREAM, UnavailableError } from '@eventstore/db-client'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { startEventStore } from '../../../infra/local/eventstore/server.ts'
import { DirectoryInUse } from '../../../infra/local/eventstore/storage/database.ts'
import { clientOf } from '../../../src/ledger/connection/client.ts'
import { listeningPorts } from '../listening-ports.ts'
import { isRoot, nobody } from '../postgres/other-user.ts'
import { temporaryDirectory } from '../temporary.ts'
import { collect, isEmbedded, numbered, uniqueStream } from './event-store.ts'
import { StoreProcess } from './store-process.ts'

describe.runIf(isEmbedded)('the process', () => {
  const started: StoreProcess[] = []
  const start = (...args: string[]): StoreProcess => {
    const store = new StoreProcess(...args)
    started.push(store)
    return store
  }
  afterEach(async () => {
    await Promise.all(started.splice(0).map((store) => store.end('SIGKILL')))
  })

  test('writes its address, and removes it when it ends', async () => {
    const directory = join(temporaryDirectory(), 'not', 'there', 'yet')
    const store = start('--directory', directory)
    const { url, pid } = await store.ready()
    expect(url).toBe(`unix:${directory}/socket/store`)
    expect(pid).toBe(store.child.pid)
    const endpoint: unknown = JSON.parse(readFileSync(join(directory, 'endpoint.json'), 'utf8'))
    expect(endpoint).toStrictEqual({ url, pid })
    expect(await store.end('SIGTERM')).toBe(0)
    expect(existsSync(join(directory, 'endpoint.json'))).toBe(false)
    expect(existsSync(join(directory, 'socket'))).toBe(false)
  })

  test('listens on a socket that only its user can reach, and on no port', async () => {
    const directory = join(temporaryDirectory(), 'with spaces, "quotes", 100 % and é')
    const store = start('--directory', directory)
    const { url, pid } = await store.ready()
    expect(statSync(join(directory, 'socket')).mode & 0o777).toBe(0o700)
    expect(statSync(join(directory, 'socket', 'store')).mode & 0o777).toBe(0o600)
    expect(listeningPorts(pid)).toStrictEqual([])
    const client = clientOf(url)
    const stream = uniqueStream()
    await client.appendToStream(stream, numbered(0), { expectedRevision: NO_STREAM })
    expect(await collect(client.readStream(stream))).toHaveLength(1)
    await client.dispose()

    const open = start('--directory', temporaryDirectory(), '--port', '0')
    const onPort = await open.ready()
    expect(listeningPorts(onPort.pid)).toStrictEqual([Number(/:(\d+)\?/.exec(onPort.url)?.[1])])
  })

  test('puts its socket under /tmp if the path is too long, but in no directory of another user', async () => {
    const directory = join(temporaryDirectory(), 'long'.repeat(20), 'longer'.repeat(20))
    const first = start('--directory', directory)
    const { url } = await first.ready()
    const own = dirname(url.replace('unix:', ''))
    expect(own).toMatch(/^\/tmp\/keyledger-[0-9a-f]{16}$/)
    expect(statSync(own).mode & 0o777).toBe(0o700)
    await first.end('SIGKILL')

    const second = start('--directory', directory)
    expect((await second.ready()).url).toBe(url)
    await second.end('SIGTERM')
    expect(existsSync(own)).toBe(false)
    if (!isRoot) return
    mkdirSync(own)
    chownSync(own, nobody.uid, nobody.gid)
    onTestFinished(() => rmSync(own, { recursive: true }))
    const third = start('--directory', directory)
    expect((await third.ready()).url).toBe(`unix:${own}-2/store`)
    await third.end('SIGTERM')
  })

  test('ends and unlocks the directory when it cannot write its address', async () => {
    const directory = temporaryDirectory()
    mkdirSync(join(directory, 'endpoint.json', 'in the way'), { recursive: true })
    const { exitCode, message } = await start('--directory', directory).failure()
    expect(exitCode).toBe(1)
    expect(message).toMatch(/^event store: .*endpoint\.json.*\. .*\n$/)
    rmSync(join(directory, 'endpoint.json'), { recursive: true })
    await start('--directory', directory).ready()
  })

  test('keeps acknowledged events when it is ended or killed, and outlives the reader of its output', async () => {
    const directory = temporaryDirectory()
    const stream = uniqueStream()
    const first = start('--directory', directory)
    const { url } = await first.ready()
    first.child.stdout.destroy()
    first.child.stderr.destroy()
    const client = clientOf(url)
    await client.appendToStream(stream, numbered(0), { expectedRevision: NO_STREAM })
    const following = collect(client.subscribeToStream(stream)).catch((error: unknown) => error)
    expect(await first.end('SIGTERM')).toBe(0)
    expect(await following).toBeInstanceOf(UnavailableError)

    const second = start('--directory', directory)
    await second.ready()
    await expect
      .poll(() =>
        client.appendToStream(stream, numbered(1), { expectedRevision: 0n }).then(
          () => 'appended',
          () => 'failed',
        ),
      )
      .toBe('appended')
    await second.end('SIGKILL')

    const third = start('--directory', directory)
    await third.ready()
    await expect
      .poll(() =>
        collect(client.readStream(stream)).then(
          ({ length }) => length,
          () => 0,
        ),
      )
      .toBe(2)
    await client.dispose()
  })

  test('a second process cannot open a directory in use until the first has ended', async () => {
    const directory = temporaryDirectory()
    const first = start('--directory', directory)
    await first.ready()
    const { exitCode, message } = await start('--directory', directory).failure()
    expect(exitCode).toBe(2)
    expect(message).toMatch(/^event store: .* is in use by another event store process\..*\n$/)
    await first.end('SIGKILL')
    await start('--directory', directory).ready()
  })

  test('a second store in one process cannot either', async () => {
    const directory = temporaryDirectory()
    const store = await startEventStore({ directory })
    await expect(startEventStore({ directory })).rejects.toBeInstanceOf(DirectoryInUse)
    await store.close()
    await (await startEventStore({ directory })).close()
  })

  test('reports that a port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const address = other.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const { exitCode, message } = await start(
      '--directory',
      temporaryDirectory(),
      '--port',
      `${port}`,
    ).failure()
    expect(exitCode).toBe(1)
    expect(message).toMatch(/^event store: .*EADDRINUSE.* choose another --port\.\n$/)
    other.close()
  })

  test('reports that a file is in the way of the directory', async () => {
    const file = join(temporaryDirectory(), 'file')
    writeFileSync(file, '')
    const { exitCode, message } = await start('--directory', file).failure()
    expect(exitCode).toBe(1)
    expect(message).toMatch(/Choose another --directory\.\n$/)
  })

  test('reports that the database is damaged', async () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'events.sqlite'), 'this is no database'.repeat(1_000))
    const { exitCode, message } = await start('--directory', directory).failure()
    expect(exitCode).toBe(1)
    expect(message).toMatch(/Restore the directory from a backup.*\n$/)
  })

  test.each([[['--port', '1']], [['--directory', 'd', '--port', 'x']], [['--directory', 'd', '--what']]])(
    'explains wrong arguments: %j',
    async (args) => {
      const { exitCode, message } = await start(...args).failure()
      expect(exitCode).toBe(1)
      expect(message).toMatch(/^event store: .*--.*\n$/)
    },
  )
})

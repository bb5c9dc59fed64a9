// Serves the page and the modules that it imports. With a bundler, none of this is needed.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'

const {
  PORT = '3001',
  LICENSE_SERVER = 'http://localhost:8080',
  TENANT = 'demo',
  PRODUCT = 'demo-app',
} = process.env
const settings = {
  baseUrl: LICENSE_SERVER,
  tenantId: TENANT,
  productId: PRODUCT,
  sdkKey: process.env.SDK_KEY ?? '',
}
const types = { '.html': 'text/html', '.js': 'text/javascript' }

/** The folder of the package that the page imports. */
const modules = new URL('..', import.meta.resolve('@keyledger/client'))

function fileOf(path) {
  if (path === '/') return new URL('index.html', import.meta.url)
  if (path === '/app.js') return new URL('app.js', import.meta.url)
  return path.startsWith('/modules/') ? new URL(path.slice('/modules/'.length), modules) : undefined
}

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost')
  if (pathname === '/settings.json') {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(settings))
    return
  }
  const file = fileOf(pathname)
  const text = file && (await readFile(fileURLToPath(file)).catch(() => undefined))
  if (text === undefined) response.writeHead(404).end()
  else response.setHeader('content-type', types[/\.\w+$/.exec(file.pathname)?.[0]] ?? 'text/plain').end(text)
})
server.listen(Number(PORT), () => console.log(`http://localhost:${server.address().port}`))

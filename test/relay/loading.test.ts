/** Guarantee: a relay that serves loads no store, no server and nothing of the SDK: it starts quickly and needs little memory. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The files that a module loads, and the packages. */
function loadedBy(module: string): string[] {
  const program = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    await import(${JSON.stringify(new URL(module, `file://${root}`).href)})
    console.log(JSON.stringify(loaded))`
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    cwd: root,
  })
  const urls = JSON.parse(printed) as string[]
  return [
    ...new Set(
      urls.map(
        (url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? url.replace(`file://${root}`, ''),
      ),
    ),
  ]
}

test('serving loads rules, signatures and the words of the client interface', () => {
  const loaded = loadedBy('src/cli/relay/serve.ts')
  const packages = loaded.filter((name) => !name.includes('/') && !name.includes(':'))
  expect(packages.sort()).toStrictEqual(['canonicalize', 'close-with-grace', 'uuid', 'zod'])
  const elsewhere = loaded.filter((name) =>
    /^(projections|infra|src\/(ledger|commands\/licenses|sdk|dashboard))\//.test(name),
  )
  expect(elsewhere).toStrictEqual([])
  expect(loaded).toContain('src/relay/calls.ts')
})

// cspell:ignore CWORD COMPREPLY norc custo compinit zmodload zpty tcsh
// Guarantee: the completion scripts offer every command and option in the shells themselves.
import { execFile, execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createHost } from '../harness/process.ts'

const host = createHost()
const run = promisify(execFile)
const has = (shell: string): boolean => {
  try {
    execFileSync(shell, ['-c', 'true'])
    return true
  } catch {
    return false
  }
}

async function scriptOf(shell: string): Promise<string> {
  const { code, stdout } = await host.run(['completion', shell], {})
  expect(code).toBe(0)
  const path = host.path(`completion.${shell}`)
  writeFileSync(path, stdout)
  return path
}

const products = [
  'list',
  'create',
  'show',
  'seats',
  'usage',
  'update',
  'free-tier',
  'test-mode',
  'mail',
  'releases',
  '--help',
]
const statuses = ['active', 'fallback', 'expired', 'suspended', 'revoked']

describe('bash', () => {
  test.runIf(has('bash')).each([
    ['products ', products],
    ['products mail s', ['show', 'set']],
    ['licenses list --status ', statuses],
    ['licenses list --cur', ['--cursor']],
    ['tenant li', ['list']],
    ['licenses show lic_1 --w', ['--watch']],
  ])('%s', async (typed, expected) => {
    const words = ['keyledger', ...typed.split(' ')]
    const program = `source ${await scriptOf('bash')}
      COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
      _keyledger; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = await run('bash', ['--norc', '-c', program])
    expect(stdout.trimEnd().split('\n')).toStrictEqual(expected)
  })
})

describe('fish', () => {
  test.runIf(has('fish')).each([
    ['products ', products.filter((word) => !word.startsWith('--'))],
    ['licenses list --status ', statuses],
    ['licenses list --cur', ['--cursor']],
    ['tenant li', ['list']],
  ])('%s', async (typed, expected) => {
    const program = `source ${await scriptOf('fish')}; complete -C 'keyledger ${typed}'`
    const { stdout } = await run('fish', ['--no-config', '-c', program])
    const found = stdout.trimEnd().split('\n')
    expect(found.map((line) => line.split('\t')[0]).toSorted()).toStrictEqual(expected.toSorted())
  })
})

test.runIf(has('zsh'))('zsh completes what is typed at a terminal', async () => {
  const typed = 'keyledger custo\\tcre\\t--em\\t'
  const setUp = `PS1=; autoload -Uz compinit; compinit -D; source ${await scriptOf('zsh')}
    keyledger() { print -r -- "got:$*:" }; print READY`
  const program = `zmodload zsh/zpty; zpty z zsh -f -i
    zpty -w z ${JSON.stringify(setUp).replaceAll('$', '\\$').replaceAll('\\n', '\n')}
    zpty -r -m z shown $'*\\nREADY*'
    zpty -w -n z $'${typed}\\n'; zpty -r -m z shown '*got:*:*'; print -r -- "$shown"; zpty -d z`
  const { stdout } = await run('zsh', ['-f', '-c', program])
  expect(stdout).toContain('got:customers create --email')
})

test('another shell is refused', async () => {
  const { code, stderr } = await host.run(['completion', 'tcsh'], {})
  expect({ code, stderr }).toStrictEqual({
    code: 2,
    stderr: 'tcsh is not supported. Use bash, zsh, fish.\n',
  })
})

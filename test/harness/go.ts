import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { installPackages } from './debian.ts'

/** Where Debian's packages of Go libraries put their source. */
const libraries = '/usr/share/gocode'

/**
 * Runs a Go program that uses Debian's `golang.org/x/mod`. Go and the library are installed if that is possible.
 * @param file the program's one source file
 * @returns a function that runs it with text on stdin and returns its stdout; undefined without Go
 */
export function goProgram(file: string): ((input: string) => string) | undefined {
  const isThere = () =>
    existsSync('/usr/bin/go') && existsSync(`${libraries}/src/golang.org/x/mod/sumdb/tlog`)
  if (!isThere()) installPackages('golang-go', 'golang-golang-x-mod-dev')
  if (!isThere()) return undefined
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: libraries, GOFLAGS: '', GOTOOLCHAIN: 'local' }
  return (input) => execFileSync('/usr/bin/go', ['run', file], { env, input, encoding: 'utf8' })
}

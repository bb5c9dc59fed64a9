import { placesOf, programAt } from './debian.ts'

/**
 * The path of nginx or Caddy, installed if necessary.
 * @throws Error with instructions to install it
 */
export function proxyProgram(name: 'nginx' | 'caddy'): string {
  const advice = `The examples of proxies are tested with ${name}: install it (Debian: apt-get install ${name}) and put it on the PATH`
  return programAt(placesOf(name), [name], advice)
}

/** Guarantee: after signing in, a member gets to the page first requested, and never to another site. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { home, leadingTo, returnPath } from '../../src/dashboard/session/redirect-with.ts'

test.each([
  '/dashboard',
  '/dashboard/approvals/cnf_06f5w3k8hx7vq2m4n9t1r0s5zc',
  '/dashboard/licenses?product=editor&status=active',
  '/dashboard/device?code=BDWP-HQZK',
])('%s is returned to', (path) => expect(returnPath(path)).toBe(path))

test.each([
  'https://evil.example',
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/dashboard//evil.example/../..//evil.example',
  '/dashboard\\..\\..\\evil.example',
  '/dashboard/../v1/products',
  '/dashboard/%2e%2e/%2e%2e/docs',
  '/dashboardevil',
  '/dashboard@evil.example',
  '/dashboard:80@evil.example',
  'javascript:alert(1)',
  '/dashboard\r\nSet-Cookie: a=b',
  '/dashboard\t/x',
  ' /dashboard/licenses',
  '/dashboard/sign-in?return=/dashboard/sign-in',
  '/dashboard/sign-out',
  '/dashboard/confirm',
  '',
  undefined,
  ['/dashboard/licenses', '//evil.example'],
  `/dashboard/${'a'.repeat(600)}`,
])('%j is not', (asked) => {
  const path = returnPath(asked)
  expect(new URL(path, 'http://here.example').origin).toBe('http://here.example')
  expect(path.startsWith('/dashboard')).toBe(true)
  expect(path).not.toMatch(/evil\.example$|sign-|docs|v1/)
})

describe('for any input', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.webUrl(),
    fc.string().map((tail) => `/dashboard${tail}`),
    fc
      .array(
        fc.constantFrom('/', '\\', '.', '..', '%2e', '@', ':', 'dashboard', 'evil.example', '?', '#', '\t'),
      )
      .map((parts) => `/${parts.join('')}`),
  )
  test('the result stays on this site, in the dashboard', () =>
    fc.assert(
      fc.property(anything, (asked) => {
        const url = new URL(returnPath(asked), 'http://here.example')
        expect(url.origin).toBe('http://here.example')
        expect(url.pathname === home || url.pathname.startsWith(`${home}/`)).toBe(true)
      }),
      { numRuns: 5000 },
    ))
  test('it passes through a URL unchanged', () =>
    fc.assert(
      fc.property(anything, (asked) => {
        const path = returnPath(asked)
        const led = new URL(leadingTo('/dashboard/sign-in', path), 'http://here.example')
        expect(returnPath(led.searchParams.get('return') ?? home)).toBe(path)
      }),
    ))
})

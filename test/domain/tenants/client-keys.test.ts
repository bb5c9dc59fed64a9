/**
 * A tenant has one SDK key and one checkout key at a time. An operation changes a key once, however often it
 * is run, and never replaces the key of a later one.
 */
import { describe, expect, test } from 'vitest'
import {
  type ClientKeysCommand,
  decideClientKeys,
  evolveClientKeys,
  noClientKeys,
  takesSdkKey,
} from '../../../src/domain/tenants/client-keys.ts'
import type { TenantEvent } from '../../../src/domain/tenants/events.ts'
import { absentTenant, evolveTenant } from '../../../src/domain/tenants/tenant.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: noClientKeys, decide: decideClientKeys, evolve: evolveClientKeys })

const at = '2026-03-01T12:00:00.000Z'
const created: TenantEvent = {
  type: 'TenantCreated',
  data: { tenantId: 'acme', name: 'Acme', plan: 'team', at },
}
const suspended: TenantEvent = { type: 'TenantSuspended', data: { reason: null, at } }
const hash = (digit: string) => digit.repeat(64)
const sdkKey = (operationId: string) => ({
  operationId,
  keyHash: hash(operationId),
  displayKey: `kl_sdk_…${operationId}`,
})
const command = (type: 'IssueSdkKey' | 'RotateSdkKey', operationId: string): ClientKeysCommand => ({
  type,
  key: sdkKey(operationId),
  at,
})
const issued = (operationId: string): TenantEvent => ({
  type: 'SdkKeyIssued',
  data: { ...sdkKey(operationId), at },
})
const rotated = (operationId: string): TenantEvent => ({
  type: 'SdkKeyRotated',
  data: { ...sdkKey(operationId), at },
})
const checkoutKey = { keyHash: hash('c'), displayKey: 'kl_chk_…cccc' }
const issueCheckout: ClientKeysCommand = { type: 'IssueCheckoutKey', key: checkoutKey, at }
const checkoutIssued: TenantEvent = { type: 'CheckoutKeyIssued', data: { ...checkoutKey, at } }

describe('the SDK key', () => {
  test('is issued to a tenant that has none', () => {
    given(created)
      .when(command('IssueSdkKey', '1'))
      .expectEvents([issued('1')])
    given(created)
      .when(command('RotateSdkKey', '1'))
      .expectEvents([issued('1')])
  })

  test('is issued once, for any number of requests', () => {
    given(created, issued('1')).when(command('IssueSdkKey', '1')).expectEvents([])
    given(created, issued('1')).when(command('IssueSdkKey', '2')).expectEvents([])
  })

  test('is rotated by each operation once', () => {
    given(created, issued('1'))
      .when(command('RotateSdkKey', '2'))
      .expectEvents([rotated('2')])
    given(created, issued('1'), rotated('2')).when(command('RotateSdkKey', '2')).expectEvents([])
    given(created, issued('1'), rotated('2'))
      .when(command('RotateSdkKey', '3'))
      .expectEvents([rotated('3')])
  })

  test('is not restored by an operation after a later one', () => {
    given(created, issued('1'), rotated('2')).when(command('RotateSdkKey', '1')).expectEvents([])
    given(created, issued('1'), rotated('2'), rotated('3'))
      .when(command('RotateSdkKey', '2'))
      .expectEvents([])
  })

  test.each([
    [[created], 'IssueSdkKey', '1', true],
    [[created], 'RotateSdkKey', '1', true],
    [[created, issued('1')], 'IssueSdkKey', '2', false],
    [[created, issued('1')], 'RotateSdkKey', '2', true],
    [[created, issued('1'), rotated('2')], 'RotateSdkKey', '1', false],
  ] as const)(
    'is asked for exactly when there will be an event (%#)',
    (history, type, operationId, takes) => {
      const keys = history.reduce(evolveClientKeys, noClientKeys)
      expect(takesSdkKey(keys, type, operationId)).toBe(takes)
      expect(decideClientKeys(keys, command(type, operationId)).length > 0).toBe(takes)
    },
  )
})

describe('the checkout key', () => {
  test('is another one each time', () => {
    given(created).when(issueCheckout).expectEvents([checkoutIssued])
    given(created, checkoutIssued)
      .when(issueCheckout)
      .expectEvents([{ type: 'CheckoutKeyRotated', data: { ...checkoutKey, at } }])
  })
})

test('an absent tenant has no keys', () => {
  given().when(command('IssueSdkKey', '1')).expectRefusal('tenant_not_found')
  given().when(command('RotateSdkKey', '1')).expectRefusal('tenant_not_found')
  given().when(issueCheckout).expectRefusal('tenant_not_found')
})

test('the keys are the latest ones, and other events of the tenant do not change them', () => {
  const history = [created, issued('1'), checkoutIssued, suspended, rotated('2')]
  expect(history.reduce(evolveClientKeys, noClientKeys)).toStrictEqual({
    tenantId: 'acme',
    sdkKey: { ...sdkKey('2'), issuedAt: at },
    checkoutKey: { ...checkoutKey, issuedAt: at },
    operationIds: ['1', '2'],
  })
})

test('the state of the tenant does not hold its keys', () => {
  const history = [created, issued('1'), checkoutIssued, rotated('2')]
  expect(history.reduce(evolveTenant, absentTenant)).toStrictEqual(evolveTenant(absentTenant, created))
})

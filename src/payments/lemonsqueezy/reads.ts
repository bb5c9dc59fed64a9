import type { OrderItem } from './order-items.ts'

/** What is read at Lemon Squeezy beside a notification. Each throws ProviderRefused or ProviderUnavailable. */
export type LemonSqueezyReads = {
  subscription(id: string): Promise<{ orderId: string; paidUntil: string } | undefined>
  orderItems(orderId: string): Promise<OrderItem[]>
}

"""Orders with the names of their customers: a stream of changes joined with a table.

    penstock run examples.postgres_join:topology

Both topics have the rows of PostgreSQL's tables as they change, from the connector in source.properties.
"""

from __future__ import annotations

from typing import Any

from penstock import StreamsBuilder, Topology

ORDERS, CUSTOMERS, DETAILS = "shop.public.orders", "shop.public.customers", "order-details"

Json = dict[str, Any]


def topology() -> Topology:
    """Orders by their number and customers by theirs in, orders with names out."""
    builder = StreamsBuilder()
    orders = builder.stream(ORDERS, value_serde="json")
    customers = builder.table(CUSTOMERS, value_serde="json")
    by_customer = orders.filter(is_there).select_key(customer_of)
    details = by_customer.left_join(customers, with_customer, value_serde="json")
    details.to(DETAILS, value_serde="json")
    return builder.build()


def is_there(number: str, order: Json | None) -> bool:
    """Whether the order was not deleted."""
    return order is not None


def customer_of(number: str, order: Json) -> str:
    """The key of the order's customer."""
    return str(order["customer"])


def with_customer(order: Json, customer: Json | None) -> Json:
    """An order with the name its customer has now."""
    name = None if customer is None else customer["name"]
    return {"id": order["id"], "customer": name, "item": order["item"], "amount": order["amount"]}

-- Why the built-in extractor took the price of an offer. Offers that exist already have no reasons until they change.

set local role souk_owner;

--!include reading/price_reason.sql

reset role;

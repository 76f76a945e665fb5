--! Message: the market

--!include index.sql

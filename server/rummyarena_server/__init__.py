"""The server of Rummy Arena: referee, gRPC, tournaments, store and command line.

Imports only go down: cli, app, tournament, then rpc, hosting and store, then wire and referee, then the rules.
"""

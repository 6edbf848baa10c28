"""`python -m mcp_world`."""

from mcp_world.cli import main

main()

from __future__ import annotations

import pytest

from catmem.clients.uris import folder_of


@pytest.mark.parametrize(
    ("uri", "folder"),
    [
        ("file:///home/kim/my%20tea", "/home/kim/my tea"),
        ("file:///home/kim/%E8%8C%B6", "/home/kim/茶"),
        ("file:///c%3A/git/x", "c:/git/x"),
        ("file://server/share/x", "//server/share/x"),
        ("vscode-remote://ssh-remote%2Bbox/home/dev/x", "/home/dev/x"),
        ("vscode-remote://wsl+Ubuntu/home/dev/x", "/home/dev/x"),
        ("/home/kim/x", "/home/kim/x"),
        ("untitled://x", ""),
        ("file://[bad", ""),
    ],
)
def test_a_uri_is_the_folder_that_it_names(uri: str, folder: str) -> None:
    assert folder_of(uri) == folder

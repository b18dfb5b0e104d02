"""Hosts that are network namespaces (tests/hosts/namespaces.sh)."""
import os

NAMESPACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hosts", "namespaces.sh")
# Of a program on one of them that starts ranks on the others, by Open MPI 4 or 5.
ON_HOSTS = {"OMPI_MCA_plm_rsh_agent": NAMESPACES + " rsh", "PRTE_MCA_plm_ssh_agent": NAMESPACES + " rsh", "OMPI_MCA_btl": "tcp,self",
            "OMPI_MCA_btl_tcp_if_include": "10.77.0.0/24", "OMPI_MCA_oob_tcp_if_include": "10.77.0.0/24",
            "PRTE_MCA_prte_if_include": "10.77.0.0/24"}
